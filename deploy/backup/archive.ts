// What a backup is: a folder with one compressed file of BSON documents for each collection, as mongodump writes them, and a list with checksums.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

/** What cannot be done, in words for the operator. */
export class BackupError extends Error {}

export interface Archive {
  format: 1;
  savedAt: string;
  /** By name: how many documents, and the SHA-256 of their bytes before compression. */
  collections: Record<string, { count: number; sha256: string }>;
}

export const LIST = 'backup.json';
export const fileOf = (folder: string, collection: string) => join(folder, `${collection}.bson.gz`);

/** @throws BackupError when the folder holds no backup. */
export async function readArchive(folder: string): Promise<Archive> {
  const text = await readFile(join(folder, LIST), 'utf8').catch(() => undefined);
  const archive = text === undefined ? undefined : (JSON.parse(text) as Archive);
  if (archive?.format !== 1)
    throw new BackupError(`${folder} holds no backup: ${LIST} is missing or of another format`);
  return archive;
}

/** @returns every document of a collection as its BSON bytes. @throws BackupError when the file is torn. */
export async function* documentsIn(folder: string, collection: string): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  const reading = pipeline(createReadStream(fileOf(folder, collection)), unpacked);
  // Put together only when a document is whole: for each piece, a large one would be copied again and again.
  let pieces: Buffer[] = [];
  let held = 0;
  let wanted = 4;
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      pieces.push(chunk);
      held += chunk.length;
      if (held < wanted) continue;
      let rest = Buffer.concat(pieces);
      // A BSON document begins with its own length in four bytes.
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

/** Reads a whole backup once and compares it with its list. @throws BackupError naming the first file that differs. */
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
