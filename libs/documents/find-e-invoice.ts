// Finds an invoice or a credit note, states it in the terms of EN 16931, and writes its e-invoices.
import { sumBy } from 'es-toolkit/math/sumBy';
import { dayIn } from '../day.ts';
import { embedXml } from '../e-invoice/embed.ts';
import { type FormatName, formatOf, neededFormat } from '../e-invoice/formats.ts';
import { creditNoteTerms, invoiceTerms, type Surroundings } from '../e-invoice/from-record.ts';
import { missingIn } from '../e-invoice/missing.ts';
import { ThreeDecimals } from '../e-invoice/money-of-document.ts';
import type { EAttachment, EInvoice } from '../e-invoice/terms.ts';
import { writeEInvoice } from '../e-invoice/write.ts';
import { appError } from '../errors.ts';
import { type AccountRecord, readAccount } from '../models/accounts/account.ts';
import { Client, type ClientRecord } from '../models/accounts/client.ts';
import { CreditNote } from '../models/billing/credit-note.ts';
import { Invoice } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { issuerOf, type Parties, partiesOf, recipientOf } from '../models/billing/parties.ts';
import { type AttachedFile, findAttachments, mediaTypeOf } from '../models/documents/attachments.ts';
import { findOriginalSize, type MadeFile, type Version } from '../models/documents/original.ts';
import { findOwn, type Records } from '../models/records.ts';
import type { Id, StoredId } from '../models/tenant.ts';
import { Project } from '../models/time/project.ts';
import { fileName } from '../printing/pdf-file.ts';
import { withReferences } from './kept-references.ts';
import { originalOf } from './original-of.ts';
import { type RecordOfKind, versionOf } from './printed-content.ts';

interface EInvoiceWishes {
  /** The format in which it has to be expressible. */
  format: FormatName | undefined;
  /** True when the printed PDF stands in the XML. */
  hasPdf: boolean;
}

/** A document of which an e-invoice can be made. */
export interface EInvoiceSource extends Version {
  kind: 'invoice' | 'credit_note';
  number: string;
  isDraft: boolean;
  /** Returns the wishes of its client and the account. */
  wishes: () => Promise<EInvoiceWishes>;
  /** @throws AppError 409 for an amount with three decimals. */
  terms: () => Promise<EInvoice>;
  /** Returns the files that the caller added to the document. */
  attachments: () => Promise<EAttachment[]>;
}

export const findInvoiceSource = finding('invoice', Invoice);
export const findCreditNoteSource = finding('credit_note', CreditNote);

/** Makes the function that finds a document of this kind. It returns undefined when the id is unknown or another account's. */
function finding<Kind extends EInvoiceSource['kind']>(kind: Kind, records: Records<RecordOfKind[Kind]>) {
  return async (accountId: Id, id: Id | StoredId): Promise<EInvoiceSource | undefined> => {
    const record = await findOwn(records, accountId, id);
    return record ? eInvoiceSource(kind, accountId, record) : undefined;
  };
}

/** Returns the source of a record that was read. */
export function eInvoiceSource<Kind extends EInvoiceSource['kind']>(
  kind: Kind,
  accountId: Id,
  record: RecordOfKind[Kind],
): EInvoiceSource {
  const state = STATED[kind] as (record: RecordOfKind[Kind], surroundings: Surroundings) => EInvoice;
  return {
    ...versionOf(kind, record),
    number: printedNumber(kind, record),
    isDraft: 'status' in record && record.status === 'Draft',
    wishes: () => wishesFor(accountId, record),
    attachments: async () =>
      kind === 'invoice' ? (await findAttachments(accountId, record._id)).map(attachedFile) : [],
    terms: () =>
      stated(record.currency, async () => state(await withReferences(record), await surroundingsOf(accountId, record))),
  };
}

async function wishesFor(accountId: Id, { client_id }: Placed): Promise<EInvoiceWishes> {
  const [account, client] = await Promise.all([readAccount(accountId), findOwn(Client, accountId, client_id)]);
  return {
    format: neededFormat(client ?? {}, account),
    hasPdf: client?.e_invoice_pdf ?? account.e_invoice_pdf ?? false,
  };
}

async function stated(currency: string, make: () => Promise<EInvoice>): Promise<EInvoice> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ThreeDecimals) throw appError('e_invoice_decimals', { currency });
    throw error;
  }
}

interface Placed {
  client_id: StoredId;
  project_id?: StoredId | null;
  parties?: Parties | undefined;
}

async function surroundingsOf(accountId: Id, record: Placed): Promise<Surroundings> {
  const { client_id, project_id, parties } = record;
  const [account, client, project] = await Promise.all([
    readAccount(accountId),
    findOwn(Client, accountId, client_id),
    project_id ? findOwn(Project, accountId, project_id) : null,
  ]);
  return {
    parties: completed(parties, account, client),
    project: project?.name,
    today: dayIn(account.time_zone),
    isTest: account.mode === 'test',
  };
}

/**
 * Returns the frozen parties. A field that they lack comes from the profile and the client of today, because it may
 * have been filled in later. An anonymised client has placeholders only.
 */
function completed(frozen: Parties | undefined, account: AccountRecord, client: ClientRecord | null): Parties {
  if (!frozen) {
    if (!client) throw new Error('a document has neither frozen parties nor a client');
    return partiesOf(account, client);
  }
  return {
    issuer: { ...issuerOf(account), ...frozen.issuer },
    client: { ...(client && !client.anonymised_at ? recipientOf(client) : {}), ...frozen.client },
  };
}

/**
 * Checks that the e-invoice which goes out with a mail can be made, so that a sender hears of it before the mail is planned.
 * @throws AppError 409 that names everything that is missing.
 */
export async function requireEInvoice<Kind extends EInvoiceSource['kind']>(
  kind: Kind,
  record: RecordOfKind[Kind],
  { account, client }: { account: AccountRecord; client: ClientRecord | null },
): Promise<void> {
  const format = neededFormat(client ?? {}, account);
  if (!format) return;
  const parties = completed(record.parties, account, client);
  const state = STATED[kind] as (record: RecordOfKind[Kind], surroundings: Surroundings) => EInvoice;
  const surroundings = { parties, today: dayIn(account.time_zone) };
  const terms = await stated(record.currency, async () => state(await withReferences(record), surroundings));
  requireNothingMissing(kind, terms, format);
}

const STATED = { invoice: invoiceTerms, credit_note: creditNoteTerms };

function requireNothingMissing(kind: EInvoiceSource['kind'], terms: EInvoice, format: FormatName) {
  const problems = missingIn(terms, format);
  if (problems.length > 0) {
    throw appError('e_invoice_incomplete', { document: kind, rules: formatOf(format).rules }, { problems });
  }
}

/** Returns the version of a document that its e-invoice in this format is. */
export function eInvoiceVersion(source: EInvoiceSource, format: FormatName): Version {
  return { ...source, content: `${source.content}.${format}` };
}

/** Returns the end of the name of a file in this format, and its media type. */
export function eInvoiceFile(format: FormatName): { end: string; type: string } {
  const { file, embedded } = formatOf(format);
  return embedded
    ? { end: `-${file}.pdf`, type: 'application/pdf' }
    : { end: `-${file}.xml`, type: 'application/xml; charset=utf-8' };
}

/**
 * Checks that there is an e-invoice of an issued document, kept or to be made, for a request that wants its headers alone.
 * @throws AppError 409 that names everything that is missing.
 */
export async function requireMakeable(source: EInvoiceSource, format: FormatName, accountId: Id): Promise<void> {
  if ((await findOriginalSize(accountId, eInvoiceVersion(source, format))) !== undefined) return;
  requireNothingMissing(source.kind, await source.terms(), format);
}

interface Making {
  accountId: Id;
  quotaBytes?: number | undefined;
  /** Returns the original PDF of the document, for XML that stands in it or has it inside. Undefined when the client of the document is gone. */
  pdf: () => Promise<MadeFile | undefined>;
}

/**
 * Returns the e-invoice of an issued document: the one that was kept, or one that is written and kept now.
 * @throws AppError 409 for a draft, and one that names everything that is missing.
 */
export async function eInvoiceOf(source: EInvoiceSource, format: FormatName, { pdf, ...making }: Making) {
  if (source.isDraft) throw appError('e_invoice_of_draft');
  return originalOf(eInvoiceVersion(source, format), { ...making, make: () => written(source, format, pdf) });
}

async function written(source: EInvoiceSource, format: FormatName, pdf: Making['pdf']): Promise<MadeFile | undefined> {
  const terms = await source.terms();
  requireNothingMissing(source.kind, terms, format);
  const { embedded } = formatOf(format);
  const write = (attachments: EAttachment[]) => Buffer.from(writeEInvoice({ ...terms, attachments }, format));
  if (!embedded && !(await source.wishes()).hasPdf) return { bytes: write(await source.attachments()), warnings: [] };
  const printed = await pdf();
  if (!printed) return undefined;
  // The files are not in memory while the PDF is printed.
  const files = await source.attachments();
  const { bytes, warnings } = printed;
  if (embedded) return { bytes: embedXml(bytes, write([]), embedded, files), warnings };
  return { bytes: write([attachedPdf(terms, bytes, files), ...files]), warnings };
}

/** Returns a file that the caller added, as an e-invoice names it. */
function attachedFile(file: AttachedFile): EAttachment {
  const { name, description, bytes } = file;
  return { id: name, description: description ?? name, fileName: name, mediaType: mediaTypeOf(file), bytes };
}

const MIB = 2 ** 20;
/** The largest PDF that stands in XML. Receivers read the file as a whole, and base64 makes it a third larger. */
const PDF_MIB_MAX = 4;
/** The PDF and the caller's files together: the XML with them is small enough to be kept. */
const ATTACHED_MIB_MAX = 5;

/** @throws AppError 409 for a PDF that is too large, alone or beside the files. */
function attachedPdf({ number }: EInvoice, bytes: Buffer, files: readonly EAttachment[]): EAttachment {
  const others = Math.ceil(sumBy(files, (file) => file.bytes.length) / MIB);
  const limit_mib = Math.min(PDF_MIB_MAX, ATTACHED_MIB_MAX - others);
  if (bytes.length > limit_mib * MIB) throw appError('e_invoice_pdf_too_large', { limit_mib });
  const name = `${fileName(number)}.pdf`;
  // Every name stands once (BR-DE-22).
  const isTaken = files.some((file) => file.fileName.toLowerCase() === name.toLowerCase());
  const given = isTaken ? `original-${name}` : name;
  return { id: number, description: number, fileName: given, mediaType: 'application/pdf', bytes };
}
