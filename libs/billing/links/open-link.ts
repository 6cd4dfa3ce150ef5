// Counts the visits of a link, and announces the first of each day.
import { agreedDate } from '../../clock.ts';
import { dayIn } from '../../day.ts';
import { DocumentLink, type DocumentLinkRecord, documentLinkView } from '../../models/portal/document-link.ts';
import { linkEnd, settledAt } from '../../models/portal/link-end.ts';
import { changeOwn, findOwn } from '../../models/records.ts';
import { wireId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** Visits within this time are one. It also bounds the writes that a reader can cause. */
const VISIT_MS = 3_600_000;

/** True when a visit at this time is another one than the last that was counted. */
export function isCountedAgain({ last_opened_at }: Pick<DocumentLinkRecord, 'last_opened_at'>, now: Date): boolean {
  return !last_opened_at || now.getTime() - last_opened_at.getTime() >= VISIT_MS;
}

/** Counts a visit, unless one was counted within the hour. @param timeZone of the account, whose days count. */
export async function countOpening(unit: UnitOfWork, { _id, account_id }: DocumentLinkRecord, timeZone: string) {
  const { session } = unit;
  const link = await findOwn(DocumentLink, wireId(account_id), _id, session);
  const now = agreedDate();
  if (!link || link.revoked_at || !isCountedAgain(link, now)) return;
  const { opened_at = now, last_opened_at, opens } = link;
  const opened = await changeOwn(DocumentLink, link, { opened_at, last_opened_at: now, opens: opens + 1 }, session);
  const today = dayIn(timeZone, now);
  if (last_opened_at && dayIn(timeZone, last_opened_at) === today) return;
  const endsAt = linkEnd(opened, await settledAt(opened, today, session));
  await unit.announce('link.opened', documentLinkView(opened, { endsAt }));
}
