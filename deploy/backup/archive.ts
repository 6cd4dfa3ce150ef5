// The format of a backup: a folder with one compressed BSON file per collection, as mongodump writes it, and a list with checksums.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import Joi from 'joi';

/** An error for the operator. */
export class BackupError extends Error {}

export interface Archive {
  format: 1;
  savedAt: string;
  /** The number of documents and the SHA-256 of their uncompressed bytes, by collection. */
  collections: Record<string, { count: number; sha256: string }>;
}

export const LIST = 'backup.json';
export const fileOf = (folder: string, collection: string) => join(folder, `${collection}.bson.gz`);

const shape = Joi.object({
  collections: Joi.object()
    .pattern(Joi.string(), Joi.object({ count: Joi.number().required(), sha256: Joi.string().required() }).unknown())
    .required(),
}).unknown();

/** Reads the list of a backup. @throws BackupError when the folder contains no backup or its list is unusable. */
export async function readArchive(folder: string): Promise<Archive> {
  const file = join(folder, LIST);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(`${folder} holds no backup: ${LIST} cannot be read (${error.code})`);
  });
  const archive = parsed(file, text);
  if (archive?.format !== 1) throw new BackupError(`${file} is of another format`);
  const { error } = shape.validate(archive, { convert: false });
  if (error) throw new BackupError(`${file} is damaged (${error.message})`);
  return archive;
}

function parsed(file: string, text: string): Archive | undefined {
  try {
    return JSON.parse(text) as Archive;
  } catch {
    throw new BackupError(`${file} is damaged (not JSON)`);
  }
}

/** Yields the BSON bytes of every document of a collection. @throws BackupError when the file is truncated. */
export async function* documentsIn(folder: string, collection: string): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  const reading = pipeline(createReadStream(fileOf(folder, collection)), unpacked);
  // The loop below throws the same error first; this promise is awaited after it.
  reading.catch(() => undefined);
  // The pieces are joined once per document. Joining at every chunk would copy large documents repeatedly.
  let pieces: Buffer[] = [];
  let held = 0;
  let wanted = 4;
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      pieces.push(chunk);
      held += chunk.length;
      if (held < wanted) continue;
      let rest = Buffer.concat(pieces);
      // A BSON document starts with its length in four bytes.
      while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
        const length = rest.readInt32LE(0);
        if (length < 5) throw new Error('not BSON');
        yield rest.subarray(0, length);
        rest = rest.subarray(length);
      }
      wanted = rest.length < 4 ? 4 : rest.readInt32LE(0);
      pieces = [rest];
      held = rest.length;
    }
    await reading;
    if (held > 0) throw new Error('the end is missing');
  } catch (error) {
    throw new BackupError(`${fileOf(folder, collection)} is damaged (${String((error as Error).message)})`);
  }
}

/** Verifies a backup against its list. @throws BackupError that names the first file that differs. */
export async function verify(folder: string, archive: Archive): Promise<void> {
  for (const [collection, expected] of Object.entries(archive.collections)) {
    const hash = createHash('sha256');
    let count = 0;
    for await (const document of documentsIn(folder, collection)) {
      hash.update(document);
      count += 1;
    }
    if (count !== expected.count || hash.digest('hex') !== expected.sha256) {
      throw new BackupError(`${fileOf(folder, collection)} is not what was saved`);
    }
  }
}
