// Finds an invoice or a credit note, states it in the terms of EN 16931, and writes its e-invoices.

import { dayIn } from '../day.ts';
import { embedXml } from '../e-invoice/embed.ts';
import { type FormatName, formatOf, neededFormat } from '../e-invoice/formats.ts';
import { creditNoteTerms, invoiceTerms, type Surroundings } from '../e-invoice/from-record.ts';
import { missingIn } from '../e-invoice/missing.ts';
import { ThreeDecimals } from '../e-invoice/money-of-document.ts';
import type { EInvoice } from '../e-invoice/terms.ts';
import { writeEInvoice } from '../e-invoice/write.ts';
import { appError } from '../errors.ts';
import { readAccount } from '../models/accounts/account.ts';
import { Client } from '../models/accounts/client.ts';
import { CreditNote } from '../models/billing/credit-note.ts';
import { Invoice } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { type Parties, partiesOf } from '../models/billing/parties.ts';
import type { MadeFile, Version } from '../models/documents/original.ts';
import { findOwn, type Records } from '../models/records.ts';
import type { Id, StoredId } from '../models/tenant.ts';
import { Project } from '../models/time/project.ts';
import { originalOf } from './original-of.ts';
import { type RecordOfKind, versionOf } from './printed-content.ts';

/** A document of which an e-invoice can be made. */
export interface EInvoiceSource extends Version {
  kind: 'invoice' | 'credit_note';
  number: string;
  isDraft: boolean;
  /** Returns the format that its client or the account need. */
  needs: () => Promise<FormatName | undefined>;
  /** @throws AppError 409 for an amount with three decimals. */
  terms: () => Promise<EInvoice>;
}

export const findInvoiceSource = finding('invoice', Invoice, invoiceTerms);
export const findCreditNoteSource = finding('credit_note', CreditNote, creditNoteTerms);

/** Makes the function that finds a document of this kind. It returns undefined when the id is unknown or another account's. */
function finding<Kind extends EInvoiceSource['kind']>(
  kind: Kind,
  records: Records<RecordOfKind[Kind]>,
  state: (record: RecordOfKind[Kind], surroundings: Surroundings) => EInvoice,
) {
  return async (accountId: Id, id: Id | StoredId): Promise<EInvoiceSource | undefined> => {
    const record = await findOwn(records, accountId, id);
    if (!record) return undefined;
    return {
      ...versionOf(kind, record),
      number: printedNumber(kind, record),
      isDraft: 'status' in record && record.status === 'Draft',
      needs: () => neededBy(accountId, record),
      terms: () => stated(record.currency, async () => state(record, await surroundingsOf(accountId, record))),
    };
  };
}

async function neededBy(accountId: Id, { client_id }: Placed): Promise<FormatName | undefined> {
  const [account, client] = await Promise.all([readAccount(accountId), findOwn(Client, accountId, client_id)]);
  return neededFormat(client ?? {}, account);
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

async function surroundingsOf(accountId: Id, { client_id, project_id, parties }: Placed): Promise<Surroundings> {
  const [account, client, project] = await Promise.all([
    readAccount(accountId),
    findOwn(Client, accountId, client_id),
    project_id ? findOwn(Project, accountId, project_id) : null,
  ]);
  const current = client ? partiesOf(account, client) : undefined;
  return {
    parties: completed(parties, current),
    project: project?.name,
    today: dayIn(account.time_zone),
  };
}

/** The frozen parties, with what they lack from the profile and the client of today: a field may have been filled in later. */
function completed(frozen: Parties | undefined, current: Parties | undefined): Parties {
  const parties = frozen ?? current;
  if (!parties) throw new Error('a document has neither frozen parties nor a client');
  return {
    issuer: { ...current?.issuer, ...parties.issuer },
    client: { ...current?.client, ...parties.client },
  };
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

interface Making {
  accountId: Id;
  quotaBytes?: number | undefined;
  /** Returns the original PDF of the document, for a format that stands in it. Undefined when the client of the document is gone. */
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

async function written(
  { kind, terms: state }: EInvoiceSource,
  format: FormatName,
  pdf: Making['pdf'],
): Promise<MadeFile | undefined> {
  const terms = await state();
  const problems = missingIn(terms, format);
  if (problems.length > 0) {
    throw appError('e_invoice_incomplete', { document: kind, rules: formatOf(format).rules }, { problems });
  }
  const xml = Buffer.from(writeEInvoice(terms, format));
  const { embedded } = formatOf(format);
  if (!embedded) return { bytes: xml, warnings: [] };
  const printed = await pdf();
  return printed && { bytes: embedXml(printed.bytes, xml, embedded), warnings: printed.warnings };
}
