// Removes unused font faces while an image is built, because the font packages contain every weight.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fontFiles } from '../../services/renderer/fonts/fonts.ts';

const kept = new Set(fontFiles().map((file) => resolve(file)));
let savedBytes = 0;
const folder = resolve('node_modules/@expo-google-fonts');
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  const file = join(folder, name);
  // Each face comes with a sample image.
  if (!/\.(ttf|png)$/.test(file) || kept.has(file)) continue;
  savedBytes += statSync(file).size;
  rmSync(file);
}
process.stdout.write(`${kept.size} faces kept, ${Math.round(savedBytes / 1e6)} MB of others left out\n`);
