// Input of the files that go out with an invoice: their bounds, and whether each is what its name says.
import { hash } from 'node:crypto';
import Joi from 'joi';
import { type Problem, problemOf, validationFailed } from '#libs/errors.ts';
import { line } from '#libs/input/kinds.ts';
import { ATTACHED_TYPES, type AttachedFile, attachedType } from '#libs/models/documents/attachments.ts';
import { bytesOfBase64 } from '../fields/base64-file.ts';

interface GivenFile {
  name: string;
  description?: string | null;
  file: string;
}

export interface GivenFiles {
  attachments: GivenFile[];
}

const MIB = 2 ** 20;
const FILES_MAX = 10;
/** Recipients read an e-invoice as a whole, with all files in it. */
const FILES_MIB_MAX = 4;
/** The body, with the files in base64 and line breaks in it. */
export const ATTACHMENTS_BODY_BYTES_MAX = 6 * MIB;
const TYPES = Object.keys(ATTACHED_TYPES);

const givenFile = Joi.object<GivenFile, true>({
  name: line()
    .max(100)
    .required()
    .description(`The name of the file, which ends with its type: ${TYPES.map((type) => `.${type}`).join(', ')}`),
  description: line().max(200).allow(null).description('What the file is; its name unless given'),
  file: Joi.string().required().description('The file in base64'),
}).meta({ schema: 'FileToAttach' });

export const givenFiles = Joi.object<GivenFiles, true>({
  attachments: Joi.array<GivenFile[]>()
    .items(givenFile)
    .max(FILES_MAX)
    .required()
    .description(`All files of the invoice, together at most ${FILES_MIB_MAX} MiB. An empty list removes them`),
}).example({
  attachments: [
    {
      name: 'hours.csv',
      description: 'Hours of October',
      file: Buffer.from('date,hours\n2026-10-01,8\n').toString('base64'),
    },
  ],
});

export const position = Joi.number()
  .integer()
  .min(1)
  .max(FILES_MAX)
  .description('Place of the file among those of the invoice, from 1')
  .example(1);

/** Returns the files to store. @throws AppError 400 with every problem at once. */
export function attachedFiles({ attachments }: GivenFiles): AttachedFile[] {
  const problems: Problem[] = [];
  const files = attachments.map(({ name, description = null, file }, index): AttachedFile => {
    const given = bytesOfBase64(file);
    const type = attachedType(name);
    if (!type || /[/\\]/.test(name)) {
      problems.push(problemOf(`attachments.${index}.name`, 'attachment_name', { types: TYPES }));
    }
    if (!given) problems.push(problemOf(`attachments.${index}.file`, 'e_invoice_not_base64'));
    else if (type && !isOfType(given, type)) {
      problems.push(problemOf(`attachments.${index}.file`, 'attachment_content', { type }));
    }
    const bytes = given ?? Buffer.alloc(0);
    return { name, description, bytes, size_bytes: bytes.length, sha256: hash('sha256', bytes) };
  });
  const names = files.map(({ name }) => name.toLowerCase());
  for (const [index, name] of names.entries()) {
    // XRechnung wants every name once (BR-DE-22).
    if (names.indexOf(name) < index) problems.push(problemOf(`attachments.${index}.name`, 'attachment_name_repeated'));
  }
  const size = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  if (size > FILES_MIB_MAX * MIB) {
    problems.push(problemOf('attachments', 'attachments_too_large', { limit_mib: FILES_MIB_MAX }));
  }
  if (problems.length > 0) throw validationFailed(problems);
  return files;
}

const STARTS: Readonly<Record<string, Buffer>> = {
  'application/pdf': Buffer.from('%PDF-'),
  'image/png': Buffer.from([0x89, 0x50, 0x4e, 0x47]),
  'image/jpeg': Buffer.from([0xff, 0xd8, 0xff]),
};
/** Spreadsheets are ZIP files. */
const ZIP = Buffer.from([0x50, 0x4b, 0x03, 0x04]);

/** True when the file begins as its type does. A text of a table has no sign, and no zero byte. */
function isOfType(bytes: Buffer, type: string): boolean {
  if (type === 'text/csv') return bytes.length > 0 && !bytes.includes(0);
  const start = STARTS[type] ?? ZIP;
  return bytes.subarray(0, start.length).equals(start);
}
