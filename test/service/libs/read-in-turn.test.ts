// Large files are read from the database a few at a time, whatever the number of requests for them.
import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Attachments, findAttachments } from '#libs/models/documents/attachments.ts';
import { BatchFile, findFile } from '#libs/models/documents/batch-file.ts';
import { findOriginal, Original } from '#libs/models/documents/original.ts';
import { findMailSource, MailSource } from '#libs/models/messages/mail-source.ts';
import { driverOf } from '#libs/models/records.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const AT_ONCE = 4;
const [accountId, id] = [newId(), newId()];
const version = { kind: 'invoice', documentId: storedId(id), clientId: storedId(id), content: 'x' } as const;

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

const READERS: readonly (readonly [string, Parameters<typeof driverOf>[0], () => Promise<unknown>])[] = [
  ['originals', Original, () => findOriginal(accountId, version)],
  ['sources of mails', MailSource, () => findMailSource(accountId, id)],
  ['files of batches', BatchFile, () => findFile(accountId, storedId(id), 0)],
  ['attached files', Attachments, () => findAttachments(accountId, id)],
];

test.each(READERS)(
  'when many %s are asked for, then few are read at once, and all in the end',
  async (_kind, records, read) => {
    const open: (() => void)[] = [];
    const begun = jest
      .spyOn(driverOf(records), 'findOne')
      .mockImplementation(() => new Promise((resolve) => open.push(() => resolve(null))) as never);
    const reads = Array.from({ length: 3 * AT_ONCE }, read);
    for (let ended = 0; ended < reads.length; ended += AT_ONCE) {
      await eventually(() => open.length === AT_ONCE);
      expect(begun).toHaveBeenCalledTimes(ended + AT_ONCE);
      for (const end of open.splice(0)) end();
    }
    await Promise.all(reads);
    begun.mockRestore();
  },
);

test('when a model reads bytes of a file, then it does so in turn', () => {
  const readers = globSync('{libs,services}/**/*.ts').filter((file) =>
    readFileSync(file, 'utf8').includes('promoteBuffers: true'),
  );
  expect(readers.length).toBeGreaterThanOrEqual(READERS.length);
  expect(readers.filter((file) => !readFileSync(file, 'utf8').includes('readInTurn('))).toEqual([]);
});
