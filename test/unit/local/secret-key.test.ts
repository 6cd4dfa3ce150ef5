// The key that npm start keeps: made once, and never replaced, because it may be the only copy.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { secretKeyOf } from '../../../deploy/local/data-folder.ts';
import { scratchFolders } from '../../support/scratch.ts';

const scratch = scratchFolders();
const newKey = () => randomBytes(32).toString('base64');

test('when there is none, then one is made, which the next start finds', async () => {
  const folder = await scratch();

  const made = await secretKeyOf(folder);

  expect(Buffer.from(made, 'base64')).toHaveLength(32);
  expect(await secretKeyOf(folder)).toBe(made);
});

test('when another key was put in front of it, then both are read', async () => {
  const folder = await scratch();
  const keys = `${newKey()},${newKey()}`;
  await writeFile(join(folder, 'secret-key.json'), JSON.stringify({ secretKey: keys }));

  expect(await secretKeyOf(folder)).toBe(keys);
});

test.each([
  ['empty', '', /it is no JSON/],
  ['half written', `{"secretKey": "${newKey()}`, /it is no JSON/],
  ['of another form', JSON.stringify({ key: newKey() }), /secretKey is required/],
  [
    'a list with a typing error in it',
    JSON.stringify({ secretKey: `${newKey()};${newKey()}` }),
    /secretKey must be base64 of 32 bytes/,
  ],
])(
  'when the file is %s, then the start fails, names the file without the key, and leaves it unchanged',
  async (_what, text, problem) => {
    const folder = await scratch();
    const file = join(folder, 'secret-key.json');
    await writeFile(file, text);

    const failure = await secretKeyOf(folder).catch((error: unknown) => error);

    expect(failure).toMatchObject({ exitCode: 78, message: expect.stringMatching(problem) });
    expect((failure as Error).message).toContain(file);
    expect((failure as Error).message).not.toMatch(/[A-Za-z0-9+/]{43}/);
    expect(await readFile(file, 'utf8')).toBe(text);
  },
);

test('when it cannot be read for another reason, then it is not taken for missing', async () => {
  const folder = await scratch();
  await mkdir(join(folder, 'secret-key.json'));

  await expect(secretKeyOf(folder)).rejects.toThrow('cannot be used');
});
