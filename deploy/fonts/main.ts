// `npm run fonts`: makes services/renderer/fonts/faces/ anew from packages that bring every weight of a family: 380 MB, of which
// documents use 80. To update a family, raise its version here.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { bundledFamilies } from '../../services/renderer/fonts/fonts.ts';

const VERSIONS: Record<string, string> = {
  'Cormorant Garamond': '0.4.1',
  'Source Serif 4': '0.4.1',
  'IBM Plex Sans': '0.4.1',
  'EB Garamond': '0.4.3',
  'IBM Plex Mono': '0.4.1',
  Arimo: '0.4.3',
  'Noto Sans': '0.4.2',
  Amiri: '0.4.1',
  'Noto Sans Hebrew': '0.4.1',
  'Noto Sans Armenian': '0.4.2',
  'Noto Sans Georgian': '0.4.3',
  'Noto Sans Ethiopic': '0.4.2',
  'Noto Sans Devanagari': '0.4.1',
  'Noto Sans Bengali': '0.4.4',
  'Noto Sans Gurmukhi': '0.4.1',
  'Noto Sans Gujarati': '0.4.2',
  'Noto Sans Oriya': '0.4.2',
  'Noto Sans Tamil': '0.4.3',
  'Noto Sans Telugu': '0.4.2',
  'Noto Sans Kannada': '0.4.3',
  'Noto Sans Malayalam': '0.4.2',
  'Noto Sans Sinhala': '0.4.2',
  'Noto Sans Thai': '0.4.2',
  'Noto Sans Lao': '0.4.2',
  'Noto Sans Khmer': '0.4.3',
  'Noto Sans Myanmar': '0.4.2',
  'Noto Serif Tibetan': '0.4.2',
  'Noto Sans Symbols 2': '0.4.1',
  'Noto Sans Math': '0.4.2',
  'Noto Sans Symbols': '0.4.1',
  'Noto Sans SC': '0.4.3',
  'Noto Sans TC': '0.4.3',
  'Noto Sans HK': '0.4.3',
  'BIZ UDPGothic': '0.4.2',
  'Noto Sans KR': '0.4.3',
  'Noto Emoji': '0.4.7',
};

const scratch = mkdtempSync(join(tmpdir(), 'billhook-fonts-'));
try {
  const families = bundledFamilies();
  const packages = families.map(({ family }) => `${packageOf(family)}@${versionOf(family)}`);
  execFileSync('npm', ['install', '--prefix', scratch, '--no-save', '--ignore-scripts', ...packages], {
    stdio: 'inherit',
  });
  const faces = dirname(families[0]?.licence ?? '');
  rmSync(faces, { recursive: true, force: true });
  mkdirSync(faces);
  for (const { family, files, licence } of families) {
    const folder = join(scratch, 'node_modules', packageOf(family));
    for (const file of files) {
      const name = basename(file);
      copyFileSync(join(folder, name.slice(name.indexOf('_') + 1, -'.ttf'.length), name), file);
    }
    copyFileSync(join(folder, 'LICENSE_FONT'), licence);
  }
} finally {
  rmSync(scratch, { recursive: true });
}

function packageOf(family: string): string {
  return `@expo-google-fonts/${family.toLowerCase().replaceAll(' ', '-')}`;
}

function versionOf(family: string): string {
  const version = VERSIONS[family];
  if (!version) throw new Error(`the version of ${family} is missing`);
  return version;
}
