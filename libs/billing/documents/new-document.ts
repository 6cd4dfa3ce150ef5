// The steps that making an invoice and making a quote share: the number first, then the fields that both have.
import { dayIn } from '../../day.ts';
import type { DetailsForm } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import type { DocumentDates } from '../../models/billing/document-dates.ts';
import { partiesOf } from '../../models/billing/parties.ts';
import type { Stamped } from '../../models/records.ts';
import { type Id, newRecord, type StoredId } from '../../models/tenant.ts';
import type { DocumentMoney } from '../../rules/documents/document-money.ts';
import type { LineItem } from '../../rules/documents/line-item.ts';
import { sequenceOf } from '../../rules/documents/number-format.ts';
import { type NewTaxTerms, newTaxTerms, reverseChargeProblem } from '../../rules/taxes/document-taxes.ts';
import type { DrawnNumber } from '../draw-number.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { currencyFor } from './client-terms.ts';
import { issueDateOf } from './issue-document.ts';
import { namedClient, requireIdentified } from './named-client.ts';
import { projectOfClient } from './project-of-client.ts';

type Kind = 'invoice' | 'quote';

export interface DocumentContent<Money> {
  /** A percentage. If it is absent, the client's treatment counts, else the account's default. */
  tax_rate?: number | undefined;
  /** The terms that were agreed before. They replace rate and treatment. */
  terms?: NewTaxTerms | undefined;
  /** The currency. Defaults to the client's. */
  currency?: string | undefined;
  /** Computes the money. @throws AppError 400 for amounts and rates. */
  moneyOf: (terms: NewTaxTerms, currency: string) => Money;
  client_id: Id | StoredId;
  /** The client's record, when the transaction has locked it already. */
  client?: ClientRecord | undefined;
  project_id?: Id | StoredId | null | undefined;
  line_items: LineItem[] | null;
  dates: DocumentDates;
  status: 'Draft' | 'Sent';
  description: string | null;
}

export interface DrawnDocument {
  kind: Kind;
  base: Stamped;
  account: AccountRecord;
  number: DrawnNumber;
}

/**
 * Draws the number. It has to be the first step of the transaction: a read before it gives another gateway time to
 * draw, and then one of the two begins again. For that reason the account is read outside of the transaction.
 */
export async function drawDocument(
  { accountId, drawNumber }: UnitOfWork,
  kind: Kind,
  issueDate: string | null | undefined,
): Promise<DrawnDocument> {
  const base = newRecord(accountId);
  const account = await readAccount(accountId);
  const day = issueDate ?? dayIn(account.time_zone);
  const number = await drawNumber(kind, base._id, { formats: account.number_formats, day });
  return { kind, base, account, number };
}

/**
 * Returns the common fields of a new document, and the records that it is shown with.
 * @throws AppError 404 for a client or project that is not the account's, 409 for an anonymised client, 400 for
 * amounts, taxes and dates.
 */
export async function newDocument<Money extends DocumentMoney>(
  { session, accountId }: UnitOfWork,
  { kind, base, account, number }: DrawnDocument,
  content: DocumentContent<Money>,
  details: DetailsForm = 'by-field',
) {
  const { client_id, project_id, line_items, dates, status, description, moneyOf } = content;
  const termsFor = (one: Partial<ClientRecord>) => content.terms ?? newTaxTerms(content.tax_rate, one, account);
  const amountsFirst = (error: unknown) => {
    moneyFor({});
    throw error;
  };
  const moneyFor = (one: Partial<ClientRecord>) =>
    moneyOf(termsFor(one), content.currency ?? currencyFor(one, account));
  if (content.client) requireIdentified(content.client);
  const client = content.client ?? (await namedClient(accountId, client_id, session).catch(amountsFirst));
  const project = await projectOfClient({ accountId, projectId: project_id, clientId: client._id, session, details });
  const money = moneyFor(client);
  const problem = reverseChargeProblem(money, { client, account }, details);
  if (problem) throw problem;
  const isIssued = status === 'Sent';
  const sequence = sequenceOf(kind, number.number_period ?? '');
  const issue_date = await issueDateOf(dates.issue_date, { session, accountId, account, sequence, isIssued, details });
  const fields = {
    ...base,
    ...dates,
    issue_date,
    ...number,
    client_id: client._id,
    project_id: project?._id ?? null,
    status,
    description,
    line_items,
    ...money,
    ...(isIssued ? { parties: partiesOf(account, client) } : {}),
  };
  return { fields, client, project };
}
