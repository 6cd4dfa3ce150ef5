// The mail of an account that has reached its quota waits until the account has made room.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Counter } from '#libs/models/counter.ts';
import { storedId } from '#libs/models/tenant.ts';
import { makeMailOf } from '../../../services/mail/make-mail.ts';
import { chromiumPdf } from '../../support/chromium-pdf.ts';
import { insertInvoice, insertMessage } from '../../support/messages.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const QUOTA = 2 ** 20;

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

test('when the account has reached its quota, then its mail is not made yet, and it is once there is room', async () => {
  const { id } = await workspace.account();
  const message = await insertMessage(id, { document: await insertInvoice(id), attach_pdf: false });
  const print = async () => ({ bytes: chromiumPdf(), warnings: [] });
  const markdown = { toHtml: async (text: string) => text };
  const mailOf = makeMailOf({ from: 'billing@example.com', print, markdown, quotaBytes: QUOTA });
  const make = async (stored_bytes: number) => {
    await Counter.collection.updateOne({ _id: storedId(id) as never }, { $set: { stored_bytes } }, { upsert: true });
    return mailOf(message, { isFirst: true, signal: new AbortController().signal });
  };

  expect(await make(QUOTA)).toEqual({
    notYet: expect.stringMatching(/^The mail could not be made: Records and events would take 1 MiB/),
  });
  const made = await make(QUOTA - 1);
  expect(Object.keys(made)).toContain('contents');
  if ('contents' in made) await made.contents.release();
});
