// The fonts of documents. They are bundled as packages and named by a fontconfig file, so that system fonts have no
// influence.
import { chmod, chown, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { escape as escapeXml } from 'es-toolkit/string/escape';
import { canRead, type Isolation } from '../browser/isolation.ts';

interface Family {
  package: string;
  /** Only faces that a style sheet uses, because each one that occurs in a document is embedded. */
  faces: string[];
}

const PLAIN = ['400Regular', '600SemiBold'];
const WITH_ITALIC = ['400Regular', '400Regular_Italic', '600SemiBold'];
const REGULAR = ['400Regular'];
const WITH_BOLD = ['400Regular', '700Bold'];

/**
 * Families by their name in style sheets. All are TrueType: Chromium converts other outlines to Type 3 fonts, which
 * readers draw blurred.
 */
const FAMILIES: Record<string, Family> = {
  'Cormorant Garamond': { package: '@expo-google-fonts/cormorant-garamond', faces: ['500Medium'] },
  'Source Serif 4': { package: '@expo-google-fonts/source-serif-4', faces: WITH_ITALIC },
  'IBM Plex Sans': { package: '@expo-google-fonts/ibm-plex-sans', faces: WITH_ITALIC },
  'EB Garamond': { package: '@expo-google-fonts/eb-garamond', faces: WITH_ITALIC },
  // This family is for code in markdown.
  'IBM Plex Mono': { package: '@expo-google-fonts/ibm-plex-mono', faces: REGULAR },
  // This family has letters of rarer Latin and Cyrillic alphabets, and every currency sign.
  'Noto Sans': { package: '@expo-google-fonts/noto-sans', faces: PLAIN },
  // The next families are for every other script, in every style. In Amiri each letter is one glyph; in faces with
  // separate dots, copied words fall apart.
  Amiri: { package: '@expo-google-fonts/amiri', faces: WITH_BOLD },
  'Noto Sans Hebrew': { package: '@expo-google-fonts/noto-sans-hebrew', faces: PLAIN },
  'Noto Sans Armenian': { package: '@expo-google-fonts/noto-sans-armenian', faces: PLAIN },
  'Noto Sans Georgian': { package: '@expo-google-fonts/noto-sans-georgian', faces: PLAIN },
  'Noto Sans Ethiopic': { package: '@expo-google-fonts/noto-sans-ethiopic', faces: PLAIN },
  'Noto Sans Devanagari': { package: '@expo-google-fonts/noto-sans-devanagari', faces: PLAIN },
  'Noto Sans Bengali': { package: '@expo-google-fonts/noto-sans-bengali', faces: PLAIN },
  'Noto Sans Gurmukhi': { package: '@expo-google-fonts/noto-sans-gurmukhi', faces: PLAIN },
  'Noto Sans Gujarati': { package: '@expo-google-fonts/noto-sans-gujarati', faces: PLAIN },
  'Noto Sans Oriya': { package: '@expo-google-fonts/noto-sans-oriya', faces: PLAIN },
  'Noto Sans Tamil': { package: '@expo-google-fonts/noto-sans-tamil', faces: PLAIN },
  'Noto Sans Telugu': { package: '@expo-google-fonts/noto-sans-telugu', faces: PLAIN },
  'Noto Sans Kannada': { package: '@expo-google-fonts/noto-sans-kannada', faces: PLAIN },
  'Noto Sans Malayalam': { package: '@expo-google-fonts/noto-sans-malayalam', faces: PLAIN },
  'Noto Sans Sinhala': { package: '@expo-google-fonts/noto-sans-sinhala', faces: PLAIN },
  'Noto Sans Thai': { package: '@expo-google-fonts/noto-sans-thai', faces: PLAIN },
  'Noto Sans Lao': { package: '@expo-google-fonts/noto-sans-lao', faces: PLAIN },
  'Noto Sans Khmer': { package: '@expo-google-fonts/noto-sans-khmer', faces: PLAIN },
  'Noto Sans Myanmar': { package: '@expo-google-fonts/noto-sans-myanmar', faces: PLAIN },
  'Noto Serif Tibetan': { package: '@expo-google-fonts/noto-serif-tibetan', faces: PLAIN },
  'Noto Sans Symbols 2': { package: '@expo-google-fonts/noto-sans-symbols-2', faces: REGULAR },
  'Noto Sans Math': { package: '@expo-google-fonts/noto-sans-math', faces: REGULAR },
  'Noto Sans Symbols': { package: '@expo-google-fonts/noto-sans-symbols', faces: REGULAR },
  // The next families are for Han characters, which five languages draw in five ways.
  'Noto Sans SC': { package: '@expo-google-fonts/noto-sans-sc', faces: WITH_BOLD },
  'Noto Sans TC': { package: '@expo-google-fonts/noto-sans-tc', faces: WITH_BOLD },
  'Noto Sans HK': { package: '@expo-google-fonts/noto-sans-hk', faces: WITH_BOLD },
  'BIZ UDPGothic': { package: '@expo-google-fonts/biz-udpgothic', faces: WITH_BOLD },
  'Noto Sans KR': { package: '@expo-google-fonts/noto-sans-kr', faces: WITH_BOLD },
  'Noto Emoji': { package: '@expo-google-fonts/noto-emoji', faces: REGULAR },
};

/** Families of a style, which are no fallback for other texts. */
const OF_STYLES = ['Cormorant Garamond', 'IBM Plex Sans', 'EB Garamond', 'IBM Plex Mono'];

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
  return Object.keys(FAMILIES).map((family) => ({ family, file: filesOf(family)[0] ?? '' }));
}

/** Returns every font file by its full path. */
export function fontFiles(): string[] {
  return Object.keys(FAMILIES).flatMap(filesOf);
}

function filesOf(family: string): string[] {
  const { package: name, faces } = FAMILIES[family] ?? { package: '', faces: [] };
  // The files are named by path, because the `exports` of these packages do not name them.
  const folder = join(import.meta.dirname, '../../../node_modules', name);
  return faces.map((face) => join(folder, face, `${family.replaceAll(' ', '')}_${face}.ttf`));
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
