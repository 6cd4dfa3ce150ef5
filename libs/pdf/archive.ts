// Makes a PDF of Chromium an archive file (PDF/A-3), and embeds data in one. The file says itself what it lacks, so an archive file may be updated again.
import { deflateSync } from 'node:zlib';
import { srgbProfile } from './srgb-profile.ts';
import { unexpected } from './structure.ts';
import { readTextString, TEXT_STRING, textString } from './text-string.ts';
import { openUpdate, type PdfUpdate } from './update.ts';
import { type ExtensionSchema, xmpOf } from './xmp.ts';

export interface Description {
  author: string;
  /** A BCP 47 tag. */
  language: string;
  /** True for a tagged file that fulfils PDF/UA-1, and so claims it and PDF/A-3a instead of PDF/A-3b. */
  isAccessible: boolean;
}

/** A file inside the PDF. */
export interface EmbeddedFile {
  name: string;
  bytes: Buffer;
  /** A media type. */
  type: string;
  description: string;
  /** Whether it says the same as the pages, is data beside them, or adds to them. */
  relation: 'Alternative' | 'Data' | 'Supplement';
}

const PROFILE = srgbProfile();
const COLOURS = 'sRGB IEC61966-2.1';

/**
 * Adds what PDF/A-3 wants and Chromium does not write: an identifier, metadata and the meaning of colours.
 * @throws UnknownForm
 */
export function archiveFile(pdf: Buffer, { author, language, isAccessible }: Description): Buffer {
  const update = openUpdate(pdf);
  update.info += `\n/Author ${textString(author)}`;
  update.catalogue += '\n/Version /1.7';
  if (!update.catalogue.includes('/Lang ')) update.catalogue += `\n/Lang ${textString(language)}`;
  addColours(update);
  describe(update, { isAccessible, extensions: [] });
  return update.toBuffer();
}

/**
 * Embeds files in one that has an author and a language, and no file yet. The result is PDF/A-3b, also of a print of
 * an earlier release, which was no archive file.
 * @param schema the properties that name the files in the metadata.
 * @throws UnknownForm
 */
export function withEmbeddedFiles(pdf: Buffer, files: readonly EmbeddedFile[], schema: ExtensionSchema): Buffer {
  const update = openUpdate(pdf);
  if (/\/Names\b|\/AF\b/.test(update.catalogue)) unexpected();
  if (!update.catalogue.includes('/OutputIntents')) addColours(update);
  const { ModDate: date } = propertiesOf(update);
  const embedded = files.map((file) => embed(update, file, textString(date)));
  // A tree of names is sorted by their bytes (ISO 32000-1, 7.9.6).
  const names = embedded.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const listed = names.map(({ name, specification }) => `${name} ${specification}`).join(' ');
  const associated = embedded.map(({ specification }) => specification).join(' ');
  update.catalogue += `\n/Names <</EmbeddedFiles <</Names [${listed}]>>>>\n/AF [${associated}]`;
  if (!update.catalogue.includes('/PageMode')) update.catalogue += '\n/PageMode /UseAttachments';
  describe(update, { isAccessible: false, extensions: [schema] });
  return update.toBuffer();
}

function embed(update: PdfUpdate, file: EmbeddedFile, date: string) {
  const name = textString(file.name);
  const stream = update.addStream(
    `/Type /EmbeddedFile\n/Subtype /${file.type.replaceAll('/', '#2F')}\n/Params <</ModDate ${date} /Size ${file.bytes.length}>>\n/Filter /FlateDecode`,
    deflateSync(file.bytes),
  );
  const specification = update.add(
    `<</Type /Filespec\n/F ${name}\n/UF ${name}\n/Desc ${textString(file.description)}\n/AFRelationship /${file.relation}\n/EF <</F ${stream} /UF ${stream}>>>>`,
  );
  // A name outside of ASCII is written with a byte order mark.
  return { name, specification, key: name.startsWith('<') ? `\uFEFF${file.name}` : file.name };
}

/** Gives the colours of the pages, which are those of a device, a meaning. */
function addColours(update: PdfUpdate) {
  const profile = update.addStream('/N 3', PROFILE);
  const intent = update.add(
    `<</Type /OutputIntent\n/S /GTS_PDFA1\n/OutputConditionIdentifier (${COLOURS})\n/Info (${COLOURS})\n/DestOutputProfile ${profile}>>`,
  );
  update.catalogue += `\n/OutputIntents [${intent}]`;
}

/** Writes the metadata, or another version of it, from the document information. */
function describe(update: PdfUpdate, claims: Parameters<typeof xmpOf>[1]) {
  const { Title, Author, Creator, Producer, CreationDate, ModDate } = propertiesOf(update);
  const metadata = xmpOf(
    {
      title: Title,
      author: Author,
      creator: Creator,
      producer: Producer,
      language: stringsIn(update.catalogue).get('Lang') ?? unexpected(),
      createdAt: timeOf(CreationDate),
      modifiedAt: timeOf(ModDate),
    },
    claims,
  );
  const known = /\/Metadata (\d+) 0 R/.exec(update.catalogue)?.[1];
  // Archives read it without unpacking: it is not compressed.
  const written = update.addStream('/Type /Metadata\n/Subtype /XML', metadata, known ? Number(known) : undefined);
  if (!known) update.catalogue += `\n/Metadata ${written}`;
}

const PROPERTIES = ['Title', 'Author', 'Creator', 'Producer', 'CreationDate', 'ModDate'] as const;

function propertiesOf({ info }: PdfUpdate) {
  const strings = stringsIn(info);
  const entries = PROPERTIES.map((name) => [name, strings.get(name) ?? unexpected()]);
  return Object.fromEntries(entries) as Record<(typeof PROPERTIES)[number], string>;
}

/** Reads the strings of a dictionary one after the other, because one may look like the entry of another. */
function stringsIn(dictionary: string): Map<string, string> {
  const entries = dictionary.matchAll(new RegExp(`/(\\w+) ?(${TEXT_STRING})`, 'g'));
  return new Map(Array.from(entries, ([, name = '', written = '']) => [name, readTextString(written)]));
}

/** Returns a date of a PDF in UTC (ISO 32000-1, 7.9.4) in the form of ISO 8601. */
function timeOf(date: string): string {
  const found = /^D:(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\+00'00'$/.exec(date) ?? unexpected();
  const [, year, month, day, hour, minute, second] = found;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}+00:00`;
}
