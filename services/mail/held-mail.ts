// A composed mail while its server is waited for: a small one is in memory, a large one in a file that has no name any more.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIL_BYTES_MAX } from '#libs/models/messages/mail-source.ts';

/** The largest mail that stays in memory. An invoice with its PDF has a twentieth of it. */
const IN_MEMORY_MAX = 2 ** 20;
/** The bytes that a reader of a file has in memory. */
const PIECE_BYTES = 64 * 1024;

export interface HeldMail {
  /** In bytes. */
  size: number;
  /** True of a mail that is not in memory. */
  isLarge: boolean;
  /** Reads the mail from its beginning. It can be read any number of times. */
  read(): AsyncGenerator<Buffer>;
  /** Lets the mail go. It cannot be read any more. */
  release(): Promise<void>;
}

/** The error of a mail of more than MAIL_BYTES_MAX. */
export class MailTooLarge extends Error {
  override readonly name = 'MailTooLarge';
}

/** The error of a large mail that the disk does not take now. */
export class DiskUnavailable extends Error {
  override readonly name = 'DiskUnavailable';
}

/** Holds a mail of which this process is given the pieces. @throws MailTooLarge, DiskUnavailable, and the errors of the pieces. */
export async function holdMail(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<HeldMail> {
  const small: Buffer[] = [];
  let size = 0;
  let file: FileHandle | undefined;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > MAIL_BYTES_MAX) throw new MailTooLarge(`The mail is larger than ${MAIL_BYTES_MAX / 2 ** 20} MiB`);
      small.push(piece);
      if (size <= IN_MEMORY_MAX) continue;
      file ??= await openNameless();
      for (const next of small.splice(0)) await write(file, next);
    }
  } catch (error) {
    await file?.close();
    throw error;
  }
  return file ? inFile(file, size) : inMemory(Buffer.concat(small));
}

function inMemory(bytes: Buffer): HeldMail {
  return {
    size: bytes.length,
    isLarge: false,
    async *read() {
      yield bytes;
    },
    release: async () => undefined,
  };
}

function inFile(file: FileHandle, size: number): HeldMail {
  return {
    size,
    isLarge: true,
    async *read() {
      for (let position = 0; position < size; ) {
        const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(PIECE_BYTES), position });
        if (bytesRead === 0) throw new Error('the file of a mail is shorter than the mail');
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    release: () => file.close(),
  };
}

/** Opens a file in the folder for temporary files that vanishes with the process, even with one that is killed. */
async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `billhook-mail-${randomUUID()}`);
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return file;
  } catch (error) {
    await file?.close();
    throw notTaken(error);
  }
}

async function write(file: FileHandle, bytes: Buffer): Promise<void> {
  try {
    await file.writeFile(bytes);
  } catch (error) {
    throw notTaken(error);
  }
}

function notTaken(cause: unknown): DiskUnavailable {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException;
  return new DiskUnavailable(`The mail is large, and the disk of the mail service does not take it (${code})`, {
    cause,
  });
}
