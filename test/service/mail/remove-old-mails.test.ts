// Mails that were kept for 90 days are removed, their bytes no longer count, and their messages stay.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Counter } from '#libs/models/counter.ts';
import { findMailSource, insertMailSource, MAIL_KEPT_MS, mailSourceOf } from '#libs/models/messages/mail-source.ts';
import type { MessageRecord } from '#libs/models/messages/message.ts';
import { removeOldMails } from '../../../services/mail/remove-old-mails.ts';
import { insertMessage, inUnit, storedMessage, wholeMail } from '../../support/messages.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

/** More than a step of the account's sum of bytes, so that no rounding is random. It cannot be compressed. */
const MAIL_BYTES = 100_000;
const MADE = new Date('2026-01-01T00:00:00Z');
const after = (ms: number) => new Date(MADE.getTime() + ms);

async function keep(message: MessageRecord, accountId: string, madeAt: Date): Promise<void> {
  const source = await mailSourceOf(message, wholeMail(randomBytes(MAIL_BYTES)), madeAt);
  await inUnit(accountId, ({ session }) => insertMailSource(source, session));
}

async function storedBytes(accountId: string): Promise<number> {
  const counter = await Counter.findById(accountId).lean<{ stored_bytes?: number }>();
  return counter?.stored_bytes ?? 0;
}

test('when 90 days have passed, then old mails of all accounts are gone with their bytes, and younger ones are not', async () => {
  const [ada, bob] = await Promise.all([workspace.account(), workspace.account()]);
  const [old, young] = [await insertMessage(ada.id), await insertMessage(bob.id)];
  const withoutMail = await storedBytes(ada.id);
  await keep(old, ada.id, MADE);
  await keep(young, bob.id, after(1_000));
  expect(await storedBytes(ada.id)).toBeGreaterThan(withoutMail);

  expect(await removeOldMails(after(MAIL_KEPT_MS - 1))).toBe(false);
  expect(await findMailSource(ada.id, old._id)).toBeDefined();
  expect(await removeOldMails(after(MAIL_KEPT_MS))).toBe(false);

  expect(await findMailSource(ada.id, old._id)).toBeUndefined();
  expect(await findMailSource(bob.id, young._id)).toBeDefined();
  expect((await storedMessage(old)).state).toBe('queued');
  expect(await storedBytes(ada.id)).toBe(withoutMail);
});
