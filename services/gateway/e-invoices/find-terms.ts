// Finds an invoice or a credit note and states it in the terms of EN 16931.

import { dayIn } from '#libs/day.ts';
import { type RecordOfKind, versionOf } from '#libs/documents/printed-content.ts';
import { creditNoteTerms, invoiceTerms, type Surroundings } from '#libs/e-invoice/from-record.ts';
import { ThreeDecimals } from '#libs/e-invoice/money-of-document.ts';
import type { EInvoice } from '#libs/e-invoice/terms.ts';
import { appError } from '#libs/errors.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { Client } from '#libs/models/accounts/client.ts';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import { type Parties, partiesOf } from '#libs/models/billing/parties.ts';
import type { Version } from '#libs/models/documents/original.ts';
import { findOwn, type Records } from '#libs/models/records.ts';
import type { Id, StoredId } from '#libs/models/tenant.ts';
import { Project } from '#libs/models/time/project.ts';

/** A document of which an e-invoice can be made. */
export interface EInvoiceSource extends Version {
  kind: 'invoice' | 'credit_note';
  number: string;
  isDraft: boolean;
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
  return async (accountId: Id, id: Id): Promise<EInvoiceSource | undefined> => {
    const record = await findOwn(records, accountId, id);
    if (!record) return undefined;
    return {
      ...versionOf(kind, record),
      number: printedNumber(kind, record),
      isDraft: 'status' in record && record.status === 'Draft',
      terms: () => stated(record.currency, async () => state(record, await surroundingsOf(accountId, record))),
    };
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
