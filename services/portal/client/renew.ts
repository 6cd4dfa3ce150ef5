// Mails a new link in place of one that has expired, to the address that the old one was sent to.
import { renewalRecipients } from '#libs/billing/links/link-recipients.ts';
import { planMessage } from '#libs/billing/messages/plan-message.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { AppError } from '#libs/errors.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { Quote, type QuoteRecord } from '#libs/models/billing/quote.ts';
import { Message } from '#libs/models/messages/message.ts';
import { driverOf } from '#libs/models/records.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { change, type Visit } from './visit.ts';

/** The most mails that one expired link causes, at most one a day. */
const RENEWALS_MAX = 5;

type Mailed = { type: 'invoice'; record: InvoiceRecord } | { type: 'quote'; record: QuoteRecord };

/**
 * Plans the mail. The new link allows what the old one did, and lives as long as its maker let the old one live.
 * @returns false when no mail can be sent: mail is not set up, the address bounced, or the link had all its mails.
 */
export async function renew(visit: Visit): Promise<boolean> {
  try {
    return await change(visit, (unit) => planLink(unit, visit));
  } catch (error) {
    if (isDuplicate(error)) return isOnItsWay(visit);
    if (error instanceof AppError && error.status === 409) return false;
    throw error;
  }
}

async function planLink(unit: UnitOfWork, visit: Visit): Promise<boolean> {
  const { link } = visit;
  const { account_id, _id, allow, show_time, show_statement, subject_type, expires_at, created_at } = link;
  const prefix = prefixOf(link);
  const before = { account_id, once: { $gte: prefix, $lt: `${prefix}~` }, ...NOT_ENDED } as object;
  const count = await driverOf(Message).countDocuments(before, { session: unit.session, limit: RENEWALS_MAX });
  const mailed = count < RENEWALS_MAX ? await mailedOf(unit, visit) : undefined;
  if (!mailed) return false;
  const to = await renewalRecipients(unit, link);
  await planMessage(unit, {
    ...mailed,
    kind: 'link',
    wanted: { attach_pdf: false, ...(to ? { to } : {}) },
    link: {
      ...{ type: subject_type, allow, show_time, renews: _id },
      ...(show_statement ? { show_statement } : {}),
      ...(expires_at ? { life_ms: +expires_at - +created_at } : {}),
    },
    once: todays(link),
    requestId: String(_id),
  } as Parameters<typeof planMessage>[1]);
  return true;
}

const prefixOf = ({ _id }: Visit['link']) => `link/${String(_id)}/`;
const todays = (link: Visit['link']) => prefixOf(link) + agreedDate().toISOString().slice(0, 10);

/** The mails that went out, or may go out. */
const NOT_ENDED = { state: { $nin: ['failed', 'cancelled'] } } as const;

/** True of the mail of today, unless the mail server rejected it or its account cancelled it. */
async function isOnItsWay({ link }: Visit): Promise<boolean> {
  const { account_id } = link;
  const found = await driverOf(Message).findOne({ account_id, once: todays(link), ...NOT_ENDED } as object);
  return found !== null;
}

/** Returns the document that the mail is about: for a client's link the latest that it shows, or showed. */
async function mailedOf({ session }: UnitOfWork, { subject, link }: Visit): Promise<Mailed | undefined> {
  if (subject.type !== 'client') return subject;
  const own = { account_id: link.account_id, client_id: link.client_id };
  const latest = { session, sort: { _id: -1 }, hint: { account_id: 1, client_id: 1, _id: 1 } } as const;
  const issued = { ...own, status: { $in: ['Sent', 'Overdue', 'Paid'] } } as object;
  const invoice = (await driverOf(Invoice).findOne(issued, latest)) as InvoiceRecord | null;
  if (invoice) return { type: 'invoice', record: invoice };
  const quote = (await driverOf(Quote).findOne(
    { ...own, status: { $ne: 'Draft' } } as object,
    latest,
  )) as QuoteRecord | null;
  return quote ? { type: 'quote', record: quote } : undefined;
}
