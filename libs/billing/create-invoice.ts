// Makes an invoice: draws its number, computes its amounts, checks what it names, and announces it.
import { dayIn } from '../day.ts';
import { type AccountRecord, readAccount } from '../models/accounts/account.ts';
import type { DocumentDates } from '../models/billing/document-dates.ts';
import { documentSearch } from '../models/billing/document-search.ts';
import { Invoice, type InvoiceRecord, invoiceExpiry, invoiceView } from '../models/billing/invoice.ts';
import type { LineItem } from '../models/billing/line-item.ts';
import { partiesOf } from '../models/billing/parties.ts';
import { insertOwn } from '../models/records.ts';
import { type Id, newRecord, type StoredId } from '../models/tenant.ts';
import { invoiceMoney } from './document-money.ts';
import { issueDateOf } from './issue-document.ts';
import type { Decimal } from './money.ts';
import { namedClient } from './named-client.ts';
import { sequenceOf } from './number-format.ts';
import { requirePrintableContent } from './printable-size.ts';
import { projectOfClient } from './project-of-client.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface InvoiceContent {
  client_id: Id | StoredId;
  project_id?: Id | StoredId | null | undefined;
  currency: string;
  /** In major units; counts where there are no lines. */
  amount?: Decimal | undefined;
  /** Percentage; undefined takes the account's default. */
  tax_rate?: number | undefined;
  line_items: LineItem[] | null;
  dates: DocumentDates;
  due_date: string;
  status: 'Draft' | 'Sent';
  description?: string | null | undefined;
  /** Where it comes from: fields that are stored with it. */
  origin?: Partial<InvoiceRecord>;
}

/**
 * @param compute gives the content after the number was drawn. The draw locks the account's counter and has to be the first step:
 * whatever is read before gives another gateway time to draw, and then one of the two begins again.
 * @throws AppError 404 for a client or project that is not the account's, 409 for an anonymised client, 400 for amounts and dates, 422 for texts that could not be printed.
 */
export async function createInvoice(
  unit: UnitOfWork,
  issueDate: string | null | undefined,
  compute: (account: AccountRecord) => InvoiceContent | Promise<InvoiceContent>,
): Promise<{ invoice: InvoiceRecord; view: ReturnType<typeof invoiceView> }> {
  const { session, accountId, drawNumber, announce } = unit;
  const base = newRecord(accountId);
  const account = await readAccount(accountId); // Outside of the transaction, whose first step is to draw.
  const day = issueDate ?? dayIn(account.time_zone);
  const drawn = await drawNumber('invoice', base._id, { formats: account.number_formats, day });
  const content = await compute(account);
  const { currency, amount = 0, status, due_date, dates, line_items } = content;
  const description = content.description || null;
  requirePrintableContent({ line_items, description });
  const tax_rate = content.tax_rate ?? account.default_tax_rate ?? 0;
  const money = invoiceMoney({ currency, amount, tax_rate, line_items });
  const client = await namedClient(accountId, content.client_id, session);
  const project = await projectOfClient({ accountId, projectId: content.project_id, clientId: client._id, session });
  const sequence = sequenceOf('invoice', drawn.number_period ?? '');
  const issuing = { session, accountId, account, sequence, isIssued: status === 'Sent' };
  const invoice: InvoiceRecord = {
    ...base,
    ...money,
    ...dates,
    issue_date: await issueDateOf(dates.issue_date, issuing),
    ...invoiceExpiry({ status, amount: money.amount, due_date }),
    ...drawn,
    client_id: client._id,
    project_id: project?._id ?? null,
    status,
    due_date,
    amount_paid: 0,
    description,
    ...(status === 'Sent' ? { parties: partiesOf(account, client) } : {}),
    ...content.origin,
  };
  invoice.search = documentSearch(invoice);
  await insertOwn(Invoice, invoice, session);
  const view = invoiceView(invoice, { client, project, status });
  await announce('invoice.created', view);
  if (status === 'Sent') await announce('invoice.sent', view);
  return { invoice, view };
}
