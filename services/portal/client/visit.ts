// A request by a client of an account: the link that it came by, and the document or the client that the link is about.
import type { Request } from 'express';
import { countOpening, isCountedAgain } from '#libs/billing/links/open-link.ts';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { dayIn } from '#libs/day.ts';
import { versionOf } from '#libs/documents/printed-content.ts';
import { AppError } from '#libs/errors.ts';
import { Account, type AccountRecord } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord } from '#libs/models/accounts/client.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { type Parties, partiesOf } from '#libs/models/billing/parties.ts';
import { Quote, type QuoteRecord } from '#libs/models/billing/quote.ts';
import { type DocumentLinkRecord, findDocumentLink, lockLiveLink } from '#libs/models/portal/document-link.ts';
import { documentSettledAt, linkEnd, settledAt } from '#libs/models/portal/link-end.ts';
import { driverOf, findOwn } from '#libs/models/records.ts';
import { type Id, isId, wireId } from '#libs/models/tenant.ts';
import { hashToken } from '#libs/models/token.ts';
import { PageError } from '#libs/pages/page-error.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import type { LinkAct } from '#libs/rules/documents/link-terms.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import type { Logger } from '#libs/service/logger.ts';
import type { OpenStripe } from '../stripe/open-stripe.ts';
import type { LoadLogo } from './load-logo.ts';
import { type PageLocale, pageLocale } from './locale.ts';

/** The parts of the system that pages and forms use. */
export interface ClientParts {
  /** The way to the renderers, for an original that was never printed. */
  print: PrintDocument;
  /** The way to the renderers, for a logo behind an address. */
  loadLogo: LoadLogo;
  /** The way to Stripe. Undefined while the portal has no public address, to which clients return. */
  stripe?: { open: OpenStripe; origin: string } | undefined;
  /** Nudges the webhook and mail services, because something is due. */
  nudge: () => void;
  /** Opens the key that signs evidence and the secrets of Stripe, and seals the addresses to which clients return from there. */
  box: SecretBox;
  /** The bytes of records and events that an account may keep. Any amount unless given. */
  quotaBytes?: number | undefined;
  log: Logger;
}

export type DocumentSubject =
  | { type: 'invoice'; record: InvoiceRecord; parties: Parties }
  | { type: 'quote'; record: QuoteRecord; parties: Parties };

type Subject = DocumentSubject | { type: 'client'; record: ClientRecord };

export interface Visit<Shown extends Subject = Subject> {
  parts: ClientParts;
  request: Request;
  link: DocumentLinkRecord;
  account: AccountRecord;
  accountId: Id;
  subject: Shown;
  /** The path of this document, or of the list of a client's link. Pages and forms are below it. */
  base: string;
  /** The path of the link itself. */
  home: string;
  /** The token of every form, which other sites cannot know. */
  csrf: string;
  /** The calendar day of the account. */
  today: string;
  /** True when the link has expired: its page only offers a new one. */
  hasEnded: boolean;
  /** True for a look of the owner, which is not counted. */
  isPreview: boolean;
  locale: PageLocale;
}

export type DocumentVisit = Visit<DocumentSubject>;

/** True for a visit of a document, and not of a client's list. */
export function isOfDocument(visit: Visit): visit is DocumentVisit {
  return visit.subject.type !== 'client';
}

/** Returns the party that the document comes from: as it was issued, or as the account is today for a client's list. */
export function issuerOf({
  subject,
  account,
}: Visit): Pick<AccountRecord, 'name' | 'company' | 'logo_url' | 'brand_color'> {
  return subject.type === 'client' ? account : subject.parties.issuer;
}

/** True when the link lets its reader do the act. */
export function mayDo({ link }: Pick<Visit, 'link'>, act: LinkAct): boolean {
  return link.allow.includes(act);
}

/**
 * Returns the fingerprint of the document as it is shown. A form that sends it back shows that its reader saw this version.
 */
export function shownVersion({ subject: { type, record } }: DocumentVisit): string {
  return type === 'invoice' ? versionOf('invoice', record).content : versionOf('quote', record).content;
}

/** Returns the 404 of every link that shows nothing: unknown, revoked, or of a document or an account that is gone. */
export const noSuchLink = () => new PageError(404, 'No such link');

const TOKEN_FORM = /^[\w-]{43}$/;

/**
 * Finds the link of a request and the subject of its path.
 * @throws PageError 404, the same one for every link, document and account that is not there or not to be seen.
 */
export async function openVisit(request: Request, parts: ClientParts): Promise<Visit> {
  const token = String(request.params['token']);
  if (!TOKEN_FORM.test(token)) throw noSuchLink();
  const link = await findDocumentLink(token);
  if (!link) throw noSuchLink();
  const { account, subject } = await readSubject(link, request);
  const today = dayIn(account.time_zone);
  // The document of the link is read already. A client's link ends with all documents of the client.
  const isOfItself = link.subject_type !== 'client' && subject.type !== 'client';
  const end = linkEnd(link, isOfItself ? documentSettledAt(subject, today) : await settledAt(link, today));
  const home = `/p/${token}`;
  const isHome = subject.type === 'client' || request.params['id'] === undefined;
  return {
    parts,
    request,
    link,
    account,
    accountId: wireId(link.account_id),
    subject,
    home,
    base: isHome ? home : `${home}/${subject.type}s/${String(subject.record._id)}`,
    // The token of the link is the secret: without it no form can be made.
    csrf: hashToken(`form ${token}`).slice(0, 43),
    today,
    hasEnded: end !== undefined && end <= agreedDate(),
    isPreview: request.query['preview'] !== undefined,
    locale: pageLocale(localeOf(subject, account), subject.type === 'client' ? undefined : subject.record.currency),
  };
}

function localeOf(subject: Subject, account: AccountRecord): string {
  return subject.type === 'client' ? account.locale : subject.parties.issuer.locale;
}

/** Reads the account and the subject at once. @throws PageError 404 unless the link shows it. */
async function readSubject(link: DocumentLinkRecord, request: Request) {
  const accountId = wireId(link.account_id);
  const named = namedIn(request, link);
  const [account, client, document] = await Promise.all([
    driverOf(Account as never).findOne({ _id: link.account_id }) as Promise<unknown>,
    findOwn(Client, accountId, link.client_id) as Promise<ClientRecord | null>,
    named && findOwn<InvoiceRecord | QuoteRecord>(named.type === 'invoice' ? Invoice : Quote, accountId, named.id),
  ]);
  if (!account || !client) throw noSuchLink();
  const owner = account as AccountRecord;
  if (!named) return { account: owner, subject: { type: 'client', record: client } as Subject };
  // Drafts and the documents of other clients are not to be seen.
  if (!document || document.status === 'Draft' || !document.client_id.equals(client._id)) throw noSuchLink();
  const parties = document.parties ?? partiesOf(owner, client);
  return { account: owner, subject: { type: named.type, record: document, parties } as Subject };
}

/** Returns the document in the path, which a client's link opens, or that of the link. Undefined for a client's list. */
function namedIn(
  { params, path }: Request,
  link: DocumentLinkRecord,
): { type: DocumentSubject['type']; id: Id } | undefined {
  const { id } = params;
  const { subject_type: type } = link;
  if (id === undefined) return type === 'client' ? undefined : { type, id: wireId(link.subject_id) };
  if (type !== 'client' || !isId(id)) throw noSuchLink();
  return { type: path.split('/')[3] === 'quotes' ? 'quote' : 'invoice', id };
}

/**
 * Changes something in one unit of work, for an act of the reader. The link is locked in its transaction, so that no act
 * follows its revocation. Events that it causes name the link as their request.
 * @param options.isOverQuota true for an act that its account must take although it has reached its quota.
 * @throws PageError 404 when the link was revoked meanwhile.
 */
export async function change<Result>(
  visit: Visit,
  work: (unit: UnitOfWork) => Promise<Result>,
  { isOverQuota = false }: { isOverQuota?: boolean } = {},
): Promise<Result> {
  const { accountId, link, parts } = visit;
  const { result, hasEvents } = await runUnitOfWork(
    {
      accountId,
      by: { type: 'client', id: String(link._id) },
      requestId: String(link._id),
      quotaBytes: isOverQuota ? undefined : parts.quotaBytes,
      beforeWork: async (session) => {
        if (!(await lockLiveLink(link, session))) throw noSuchLink();
      },
    },
    work,
  );
  if (hasEvents) parts.nudge();
  return result;
}

/** Counts that a person looked at the page, unless that was counted within the hour, or its account has no room left. */
export async function noteOpening(visit: Visit): Promise<void> {
  const { link, account, isPreview } = visit;
  if (isPreview || !isCountedAgain(link, agreedDate())) return;
  try {
    await change(visit, (unit) => countOpening(unit, link, account.time_zone));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'quota_exceeded') throw error;
  }
}

/** Returns the fields of a form. A field that was sent twice counts as absent. */
export function fieldsOf(request: Request): Record<string, string | undefined> {
  const body = (request.body ?? {}) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value === 'string')) as Record<
    string,
    string
  >;
}
