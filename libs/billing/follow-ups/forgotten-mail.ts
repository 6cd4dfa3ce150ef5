// Issued documents that no mail brought to their client, and clients whose address is not mailed any more.
import { addDays, dayIn, startOfDay } from '../../day.ts';
import { ANY_CASE, Client, type ClientRecord } from '../../models/accounts/client.ts';
import { DUE_FIELDS } from '../../models/billing/balance-expressions.ts';
import { Invoice, type InvoiceRecord, isOpen, OPEN_STATUSES } from '../../models/billing/invoice.ts';
import { Quote, type QuoteRecord } from '../../models/billing/quote.ts';
import { Message, type MessageRecord, normalAddress, type RecipientState } from '../../models/messages/message.ts';
import type { MessageKind } from '../../models/messages/message-kinds.ts';
import { Suppression, type SuppressionRecord } from '../../models/messages/suppression.ts';
import type { StoredId } from '../../models/tenant.ts';
import { dueOf, totalOf } from '../../rules/money/balance.ts';
import {
  COUNTED,
  type Forgotten,
  type ForgottenRecord,
  hasAny,
  type Look,
  NOTHING,
  SIFTED,
  sift,
} from './forgotten.ts';

/** Days without such a mail after which an account no longer counts as one that mails its documents. */
const MAILING_DAYS = 90;
/** The accepted messages among which the first and the last mail of a document are looked for. */
const MAILS_READ = 5_000;

/** States of a last mail that arrived, or may still arrive. */
const UNDER_WAY: readonly RecipientState[] = ['accepted', 'planned', 'queued', 'sending', 'unknown'];

const FIELDS = {
  status: 1,
  currency: 1,
  ...DUE_FIELDS,
  issue_date: 1,
  delivery: 1,
  created_at: 1,
} as const satisfies Partial<Record<keyof InvoiceRecord, 1>>;

/** Finds unpaid invoices of which no mail was accepted. */
export function unmailedInvoices(look: Look): Promise<Forgotten> {
  const open = { status: { $in: OPEN_STATUSES } };
  return unmailed<InvoiceRecord>(look, { records: Invoice, type: 'invoice', filter: open }, (invoice) =>
    isOpen(invoice) ? dueOf(invoice) : undefined,
  );
}

/** Finds quotes that can be accepted, and of which no mail was accepted. */
export function unmailedQuotes(look: Look): Promise<Forgotten> {
  const open = { status: 'Sent', expires_at: { $gte: look.today } };
  return unmailed<QuoteRecord>(look, { records: Quote, type: 'quote', filter: open }, totalOf);
}

interface Mailed {
  records: typeof Invoice | typeof Quote;
  type: 'invoice' | 'quote';
  /** The documents that still wait for an act of the client. */
  filter: object;
}

/**
 * Finds the documents whose last mail failed or came back, and those without any mail, if the account mails such
 * documents: others are handed over in another way.
 * @param amountOf undefined for a document that does not wait any more.
 */
async function unmailed<Document extends InvoiceRecord | QuoteRecord>(
  look: Look,
  { records, type, filter }: Mailed,
  amountOf: (document: Document) => number | undefined,
): Promise<Forgotten> {
  const { reader, account, today } = look;
  if (!(await hasAny(look, Message))) return NOTHING;
  const mailedSince = await firstMailed(look, type);
  const waiting = reader.each<Document>(
    records,
    { ...filter, 'delivery.state': { $nin: UNDER_WAY } },
    {
      projection: { ...FIELDS, expires_at: 1 },
      sort: { issue_date: -1 },
      hint: { account_id: 1, status: 1, issue_date: 1, _id: 1 },
      ...SIFTED,
    },
  );
  return sift(waiting, async (documents) => {
    const found = documents.flatMap((document): ForgottenRecord[] => {
      const amount = amountOf(document);
      const day = document.issue_date ?? dayIn(account.time_zone, document.created_at);
      // A document of today may be mailed in a moment.
      const isListed = document.delivery || (mailedSince !== undefined && day >= mailedSince && day < today);
      if (amount === undefined || !isListed) return [];
      return [{ id: document._id, day, money: { amount, currency: document.currency } }];
    });
    const tried = new Set(documents.filter(({ delivery }) => delivery).map(({ _id }) => String(_id)));
    const arrived = await arrivedOf(
      look,
      found.filter(({ id }) => tried.has(String(id))).map(({ id }) => id),
    );
    return found.filter(({ id }) => !arrived.has(String(id)));
  });
}

/**
 * Returns the day from which on the account mails such documents, or undefined if it does not. Mails of before are not
 * known, and an account that stopped is none that forgets.
 */
async function firstMailed({ reader, account: { time_zone }, today }: Look, type: Mailed['type']) {
  const kinds: MessageKind[] = [type, 'link'];
  const mailed = async (direction: 1 | -1) => {
    const [found] = await reader.aggregate<Pick<MessageRecord, 'created_at'>>(
      Message,
      { state: 'accepted' },
      {
        stages: [
          { $sort: { _id: direction } },
          { $limit: MAILS_READ },
          { $match: { kind: { $in: kinds }, 'document.type': type } },
          { $limit: 1 },
          { $project: { created_at: 1 } },
        ],
        hint: { account_id: 1, state: 1, _id: 1 },
      },
    );
    return found?.created_at;
  };
  const last = await mailed(-1);
  if (!last || last < startOfDay(time_zone, addDays(today, -MAILING_DAYS))) return undefined;
  return dayIn(time_zone, (await mailed(1)) ?? last);
}

/** Returns the ids of those documents of which a mail server took a mail for a recipient, and did not send it back. */
function arrivedOf(look: Look, ids: readonly StoredId[]): Promise<Set<string>> {
  // A blind copy goes to the owner.
  return documentsWithMail(look, ids, { recipients: { $elemMatch: { state: 'accepted', role: { $ne: 'bcc' } } } });
}

/** Returns the ids of those documents about which there are such messages. However many there are, it reads one row for each. */
export async function documentsWithMail(
  { reader }: Look,
  ids: readonly StoredId[],
  messages: object,
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await reader.aggregate<{ _id: StoredId }>(
    Message,
    { 'document.id': { $in: ids }, ...messages },
    { stages: [{ $group: { _id: '$document.id' } }], hint: { account_id: 1, 'document.id': 1, _id: 1 } },
  );
  return new Set(rows.map(({ _id }) => String(_id)));
}

/** Finds the clients to whose address mail came back. */
export function bouncedAddresses({ reader, account: { time_zone } }: Look): Promise<Forgotten> {
  const suppressed = reader.each<SuppressionRecord>(
    Suppression,
    {},
    {
      projection: { address: 1, client_id: 1, created_at: 1 },
      sort: { _id: 1 },
      hint: { account_id: 1, _id: 1 },
      ...SIFTED,
    },
  );
  return sift(suppressed, async (addresses) => {
    const since = new Map(addresses.map(({ address, created_at }) => [address, created_at]));
    // Several clients may have the address, whichever of them the mail went to.
    const clients = await reader.find<ClientRecord>(
      Client,
      { email: { $in: [...since.keys()] } },
      { projection: { email: 1 }, collation: ANY_CASE, hint: { account_id: 1, email: 1 }, ...COUNTED },
    );
    return clients.flatMap(({ _id, email }) => {
      const at = since.get(normalAddress(email));
      return at ? [{ id: _id, day: dayIn(time_zone, at) }] : [];
    });
  });
}
