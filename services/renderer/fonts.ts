// The fonts documents are set in: bundled as packages and shown to Chromium by a fontconfig file of our own, so that no system font matters.
import { chown, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { canRead, type Isolation } from './isolation.ts';

/** Each face that is used is subset and embedded, so a document is set in few of them: no face here without a rule that asks for it. */
const FACES: Record<string, string[]> = {
  '@expo-google-fonts/cormorant-garamond': ['500Medium/CormorantGaramond_500Medium.ttf'],
  '@expo-google-fonts/source-serif-4': [
    '400Regular/SourceSerif4_400Regular.ttf',
    '400Regular_Italic/SourceSerif4_400Regular_Italic.ttf',
    '600SemiBold/SourceSerif4_600SemiBold.ttf',
  ],
  '@expo-google-fonts/ibm-plex-sans': [
    '400Regular/IBMPlexSans_400Regular.ttf',
    '400Regular_Italic/IBMPlexSans_400Regular_Italic.ttf',
    '600SemiBold/IBMPlexSans_600SemiBold.ttf',
  ],
  '@expo-google-fonts/eb-garamond': [
    '400Regular/EBGaramond_400Regular.ttf',
    '400Regular_Italic/EBGaramond_400Regular_Italic.ttf',
    '600SemiBold/EBGaramond_600SemiBold.ttf',
  ],
  // For every other script, whatever the style.
  '@expo-google-fonts/noto-naskh-arabic': [
    '400Regular/NotoNaskhArabic_400Regular.ttf',
    '600SemiBold/NotoNaskhArabic_600SemiBold.ttf',
  ],
  '@expo-google-fonts/noto-sans-hebrew': [
    '400Regular/NotoSansHebrew_400Regular.ttf',
    '600SemiBold/NotoSansHebrew_600SemiBold.ttf',
  ],
  '@expo-google-fonts/noto-sans-devanagari': [
    '400Regular/NotoSansDevanagari_400Regular.ttf',
    '600SemiBold/NotoSansDevanagari_600SemiBold.ttf',
  ],
  '@expo-google-fonts/noto-sans-thai': [
    '400Regular/NotoSansThai_400Regular.ttf',
    '600SemiBold/NotoSansThai_600SemiBold.ttf',
  ],
  '@embedpdf/fonts-sc': ['fonts/NotoSansHans-Regular.otf', 'fonts/NotoSansHans-Bold.otf'],
  '@expo-google-fonts/biz-udpgothic': ['400Regular/BIZUDPGothic_400Regular.ttf', '700Bold/BIZUDPGothic_700Bold.ttf'],
  '@expo-google-fonts/nanum-gothic': ['400Regular/NanumGothic_400Regular.ttf', '700Bold/NanumGothic_700Bold.ttf'],
  '@expo-google-fonts/noto-emoji': ['400Regular/NotoEmoji_400Regular.ttf'],
};

/** Every font file, by its full path. */
export function fontFiles(): string[] {
  return Object.entries(FACES).flatMap(([name, faces]) => {
    // By path: such packages hold files, and their `exports` do not name them.
    return faces.map((face) => join(import.meta.dirname, '../../node_modules', name, face));
  });
}

/**
 * Gathers the faces in one folder and writes the fontconfig file that names it.
 * @param folder readable by Chromium; also keeps fontconfig's cache.
 * @returns the path for FONTCONFIG_FILE.
 */
export async function prepareFonts(folder: string, isolation: Isolation): Promise<string> {
  const [faces, cache] = [join(folder, 'faces'), join(folder, 'cache')];
  await mkdir(faces);
  await mkdir(cache);
  if (isolation.owner !== undefined) await chown(cache, isolation.owner, isolation.owner);
  const files = fontFiles();
  // A program installed for root alone is not readable by the user Chromium runs as; a copy is.
  const gather = (await canRead(files, isolation)) ? symlink : copyFile;
  await Promise.all(files.map((file) => gather(file, join(faces, basename(file)))));
  const path = join(folder, 'fonts.conf');
  // A folder of links and no patterns: fontconfig reads patterns relative to where the process happens to stand.
  await writeFile(
    path,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir>${escapeXml(faces)}</dir><cachedir>${escapeXml(cache)}</cachedir></fontconfig>
`,
  );
  return path;
}

function escapeXml(text: string) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
