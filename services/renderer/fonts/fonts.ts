// The fonts of documents. They lie in `faces/`, which `npm run fonts` makes, and are named by a fontconfig file, so that
// system fonts have no influence.
import { chmod, chown, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { escape as escapeXml } from 'es-toolkit/string/escape';
import { canRead, type Isolation } from '../browser/isolation.ts';

const FACES_FOLDER = join(import.meta.dirname, 'faces');

const PLAIN = ['400Regular', '600SemiBold'];
const WITH_ITALIC = ['400Regular', '400Regular_Italic', '600SemiBold'];
const REGULAR = ['400Regular'];
const WITH_BOLD = ['400Regular', '700Bold'];

/**
 * The faces of each family, by its name in style sheets: only those that a style sheet uses, because each one that
 * occurs in a document is embedded. All are static and TrueType: Chromium converts other outlines to Type 3 fonts, which
 * readers draw blurred.
 */
const FAMILIES: Record<string, string[]> = {
  'Cormorant Garamond': ['500Medium'],
  'Source Serif 4': WITH_ITALIC,
  'IBM Plex Sans': WITH_ITALIC,
  'EB Garamond': WITH_ITALIC,
  // This family is for code in markdown.
  'IBM Plex Mono': REGULAR,
  // This family is for Swiss QR-bills, whose standard allows Liberation Sans: Arimo under another name.
  Arimo: WITH_BOLD,
  // This family has letters of rarer Latin and Cyrillic alphabets, and every currency sign.
  'Noto Sans': PLAIN,
  // The next families are for every other script, in every style. In Amiri each letter is one glyph; in faces with
  // separate dots, copied words fall apart.
  Amiri: WITH_BOLD,
  'Noto Sans Hebrew': PLAIN,
  'Noto Sans Armenian': PLAIN,
  'Noto Sans Georgian': PLAIN,
  'Noto Sans Ethiopic': PLAIN,
  'Noto Sans Devanagari': PLAIN,
  'Noto Sans Bengali': PLAIN,
  'Noto Sans Gurmukhi': PLAIN,
  'Noto Sans Gujarati': PLAIN,
  'Noto Sans Oriya': PLAIN,
  'Noto Sans Tamil': PLAIN,
  'Noto Sans Telugu': PLAIN,
  'Noto Sans Kannada': PLAIN,
  'Noto Sans Malayalam': PLAIN,
  'Noto Sans Sinhala': PLAIN,
  'Noto Sans Thai': PLAIN,
  'Noto Sans Lao': PLAIN,
  'Noto Sans Khmer': PLAIN,
  'Noto Sans Myanmar': PLAIN,
  'Noto Serif Tibetan': PLAIN,
  'Noto Sans Symbols 2': REGULAR,
  'Noto Sans Math': REGULAR,
  'Noto Sans Symbols': REGULAR,
  // The next families are for Han characters, which five languages draw in five ways.
  'Noto Sans SC': WITH_BOLD,
  'Noto Sans TC': WITH_BOLD,
  'Noto Sans HK': WITH_BOLD,
  'BIZ UDPGothic': WITH_BOLD,
  'Noto Sans KR': WITH_BOLD,
  'Noto Emoji': REGULAR,
};

/** Families of a style, which are no fallback for other texts. */
const OF_STYLES = ['Cormorant Garamond', 'IBM Plex Sans', 'EB Garamond', 'IBM Plex Mono', 'Arimo'];

const HAN_FAMILIES = {
  simplified: ['Noto Sans SC', 'Noto Sans TC', 'Noto Sans HK', 'Noto Sans KR', 'BIZ UDPGothic'],
  taiwan: ['Noto Sans TC', 'Noto Sans HK', 'Noto Sans SC', 'Noto Sans KR', 'BIZ UDPGothic'],
  hongKong: ['Noto Sans HK', 'Noto Sans TC', 'Noto Sans SC', 'Noto Sans KR', 'BIZ UDPGothic'],
  japanese: ['BIZ UDPGothic', 'Noto Sans TC', 'Noto Sans SC', 'Noto Sans HK', 'Noto Sans KR'],
  korean: ['Noto Sans KR', 'Noto Sans TC', 'Noto Sans SC', 'Noto Sans HK', 'BIZ UDPGothic'],
} as const;

/** The preferred forms of Han characters. */
export type HanForms = keyof typeof HAN_FAMILIES;

const HAN = new Set<string>(HAN_FAMILIES.simplified);
const OTHER_SCRIPTS = Object.keys(FAMILIES).filter((family) => !OF_STYLES.includes(family) && !HAN.has(family));

/**
 * A family that comes first, has the check mark only, and exists on pages with CHECK_MARK_FACE. The check mark of
 * Source Serif looks like a root sign.
 */
const CHECK_MARK = 'Check Mark';
export const CHECK_MARK_FACE = `@font-face{font-family:'${CHECK_MARK}';src:local('Noto Sans Symbols 2'),local('NotoSansSymbols2-Regular');unicode-range:U+2713}`;

/** Returns every family that may draw a character, in fallback order. */
export function fallbackOrder(first: string, han: HanForms): string[] {
  const [emoji = '', ...others] = OTHER_SCRIPTS.toReversed();
  return [...new Set([CHECK_MARK, first, ...others.toReversed(), ...HAN_FAMILIES[han], emoji])];
}

/** Returns the regular face of each family, by full path. */
export function regularFaces(): { family: string; file: string }[] {
  return bundledFamilies().map(({ family, files }) => ({ family, file: files[0] ?? '' }));
}

/** Returns every font file by its full path. */
export function fontFiles(): string[] {
  return bundledFamilies().flatMap(({ files }) => files);
}

/** Returns each family with its faces and its licence, by full path. */
export function bundledFamilies(): { family: string; files: string[]; licence: string }[] {
  return Object.entries(FAMILIES).map(([family, faces]) => {
    const path = join(FACES_FOLDER, family.replaceAll(' ', ''));
    return { family, files: faces.map((face) => `${path}_${face}.ttf`), licence: `${path}_OFL.txt` };
  });
}

/**
 * Gathers the faces in one folder and writes the fontconfig file that names it.
 * @param folder readable by Chromium, also for fontconfig's cache.
 * @returns the path for FONTCONFIG_FILE.
 */
export async function prepareFonts(folder: string, isolation: Isolation): Promise<string> {
  const [faces, cache] = [join(folder, 'faces'), join(folder, 'cache')];
  await mkdir(faces);
  // Chromium may run as another user, so the mode must not depend on the umask, which is that of `npm start`.
  await chmod(faces, 0o755);
  await mkdir(cache);
  if (isolation.owner !== undefined) await chown(cache, isolation.owner, isolation.owner);
  const files = fontFiles();
  // Files that only root can read are copied for the user that Chromium runs as.
  const gather = (await canRead(files, isolation)) ? symlink : copyForAll;
  await Promise.all(files.map((file) => gather(file, join(faces, basename(file)))));
  const path = join(folder, 'fonts.conf');
  // A folder of links is named instead of patterns, which fontconfig reads relative to the working directory.
  await writeFile(
    path,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir>${escapeXml(faces)}</dir><cachedir>${escapeXml(cache)}</cachedir></fontconfig>
`,
  );
  await chmod(path, 0o644);
  return path;
}

async function copyForAll(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await chmod(to, 0o644);
}
