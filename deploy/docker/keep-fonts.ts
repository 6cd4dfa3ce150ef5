// Leaves of the packages of fonts only the faces documents are set in, while an image is made: the packages bring every weight.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fontFiles } from '../../services/renderer/fonts/fonts.ts';

const kept = new Set(fontFiles().map((file) => resolve(file)));
let savedBytes = 0;
const folder = resolve('node_modules/@expo-google-fonts');
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  const file = join(folder, name);
  // Each face has a picture of itself beside it.
  if (!/\.(ttf|png)$/.test(file) || kept.has(file)) continue;
  savedBytes += statSync(file).size;
  rmSync(file);
}
process.stdout.write(`${kept.size} faces kept, ${Math.round(savedBytes / 1e6)} MB of others left out\n`);
