// Adds the fields that an invoice or a quote gets when it is issued: its date, and issuer and client at that moment.

import { type DetailsForm, validationFailed } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import { Client } from '../../models/accounts/client.ts';
import { issueDateProblem, issueOn } from '../../models/billing/document-dates.ts';
import type { DocumentRecord } from '../../models/billing/document-fields.ts';
import { type Parties, partiesOf } from '../../models/billing/parties.ts';
import { findOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import type { Session } from '../../mongo/connection.ts';
import { sequenceOf } from '../../rules/documents/number-format.ts';
import type { NumberKind } from '../../rules/documents/number-kinds.ts';
import { type DocumentTax, notedTaxes, reverseChargeProblem } from '../../rules/taxes/document-taxes.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { type IssuedInvoice, requireComplete } from './complete-invoice.ts';
import { requireIdentified } from './named-client.ts';

interface Issued
  extends Pick<DocumentRecord, 'issue_date' | 'service_date' | 'service_period' | 'client_id' | 'currency'>,
    Pick<DocumentRecord, 'amount' | 'tax_amount' | 'tax_rate' | 'taxes' | 'line_items' | 'description'> {}

interface Issuing extends Pick<UnitOfWork, 'accountId' | 'session' | 'warnings'> {
  kind: NumberKind;
  /** True when the change issues the document. Otherwise it may only date a draft. */
  isIssued: boolean;
  details?: DetailsForm;
}

/**
 * Returns the fields that issuing adds, or none when the change neither issues nor dates the document.
 * @param document the stored one.
 * @param content the fields that the change sets.
 * @throws AppError 400 when the issue date is not allowed or a reverse charge lacks a tax id, 409 when the client was
 * anonymised or an invoice is not complete, see requireComplete.
 */
export async function issuedFields(
  document: Issued & { number_period?: string | undefined },
  content: Partial<Issued>,
  { kind, isIssued, accountId, session, warnings, ...form }: Issuing,
): Promise<{ issue_date?: string | undefined; parties?: Parties; taxes?: DocumentTax[] }> {
  const isDated = content.issue_date !== undefined && content.issue_date !== document.issue_date;
  if (!isIssued && !isDated) return {};
  const account = await readAccount(accountId, session);
  const given = 'issue_date' in content ? content.issue_date : document.issue_date;
  const sequence = sequenceOf(kind, document.number_period ?? '');
  const issue_date = await issueDateOf(given, { session, accountId, account, sequence, isIssued, ...form });
  const client = isIssued && (await findOwn(Client, accountId, content.client_id ?? document.client_id, session));
  if (!client) return { issue_date };
  requireIdentified(client);
  const issued = { ...document, ...content };
  const problem = reverseChargeProblem(issued, { client, account }, form.details);
  if (problem) throw problem;
  // The notes have the words and the language of the present profile, like everything that is frozen.
  const taxes = issued.taxes && notedTaxes(issued.taxes, account);
  const fields = { issue_date, parties: partiesOf(account, client), ...(taxes ? { taxes } : {}) };
  if (kind === 'invoice') {
    const invoice = { ...issued, ...fields } as IssuedInvoice;
    requireComplete({ account, client, invoice }, { warnings, form: form.details });
  }
  return fields;
}

/**
 * Returns the issue date to store. Undefined while nothing is issued and none was given.
 * @param given by this request or before it.
 * @throws AppError 400 when it is too late, or before the last one of the sequence.
 */
export async function issueDateOf(
  given: string | undefined,
  {
    isIssued,
    details,
    ...issuing
  }: {
    session: Session;
    accountId: Id;
    account: Pick<AccountRecord, 'time_zone' | 'allow_backdating'>;
    sequence: string;
    isIssued: boolean;
    details?: DetailsForm;
  },
): Promise<string | undefined> {
  const problem = given === undefined ? undefined : await issueDateProblem(given, issuing);
  if (problem) throw validationFailed([problem], details);
  return isIssued ? issueOn(given, issuing) : given;
}
