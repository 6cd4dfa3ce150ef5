// A mail while it waits for its server: the same bytes at every reading, in memory or in a file without a name.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { MAIL_BYTES_MAX } from '#libs/models/messages/mail-source.ts';
import { holdMail } from '../../../services/mail/held-mail.ts';

const before = process.env['TMPDIR'];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-held-'));
  process.env['TMPDIR'] = folder;
});
afterEach(async () => {
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  await rm(folder, { recursive: true });
});

function* inPieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 100_001) yield bytes.subarray(at, at + 100_001);
}

test.each([
  ['small', 60_000, false],
  ['large', 2_500_000, true],
])('when a mail is %s, then each reading has all of it, and no file shows it', async (_what, size, isLarge) => {
  const bytes = randomBytes(size);

  const held = await holdMail(inPieces(bytes));

  expect([held.size, held.isLarge, await readdir(folder)]).toEqual([size, isLarge, []]);
  expect([await buffer(held.read()), await buffer(held.read())]).toEqual([bytes, bytes]);
  await held.release();
});

test('when a mail is too large, or its pieces end with an error, then that is the error', async () => {
  const failing = async function* () {
    yield Buffer.alloc(2_500_000);
    throw new Error('the renderer has gone');
  };

  await expect(holdMail([Buffer.alloc(MAIL_BYTES_MAX), Buffer.alloc(1)])).rejects.toThrow('larger than 15 MiB');
  await expect(holdMail(failing())).rejects.toThrow('the renderer has gone');
});

test('when the disk takes no file, then a small mail is held all the same, and a large one is for later', async () => {
  process.env['TMPDIR'] = join(folder, 'missing');

  expect(await holdMail([Buffer.alloc(60_000)])).toMatchObject({ isLarge: false });
  await expect(holdMail([Buffer.alloc(2_500_000)])).rejects.toThrow(/the disk of the mail service .* \(ENOENT\)/);
});
