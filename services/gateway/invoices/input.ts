// Input of invoices.

import Joi from 'joi';
import { dayIn } from '#libs/day.ts';
import { clientCurrency, currency, day, text, uuid } from '#libs/input/kinds.ts';
import type { AccountRecord } from '#libs/models/accounts/account.ts';
import { Invoice, type InvoiceRecord, invoiceListing, invoicesWithStatus } from '#libs/models/billing/invoice.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from '#libs/rules/documents/invoice-states.ts';
import type { EarlyPaymentDiscount } from '#libs/rules/money/early-payment.ts';
import { earlyPaymentInput } from '../fields/billing-input.ts';
import { type DatesInput, datesInput } from '../fields/dates-input.ts';
import { documentFilters } from '../fields/document-filters.ts';
import { byStatuses } from '../fields/list-filters.ts';
import {
  amount,
  type ChargesInput,
  chargesInput,
  type LineInput,
  lineItems,
  newTaxRate,
  percentage,
  pricesIncludeTax,
} from '../fields/money-input.ts';
import { type ReferencesInput, referencesInput } from '../fields/references-input.ts';
import { type RemindersInput, reminderRuleInput } from '../fields/reminder-input.ts';
import { type TextsInput, textsInput } from '../fields/texts-input.ts';
import { listOf } from '../http/list.ts';

export interface NewInvoice extends DatesInput, ReferencesInput, ChargesInput, TextsInput, RemindersInput {
  client_id: Id;
  amount?: number;
  due_date?: string;
  project_id?: Id | null;
  description?: string | null;
  currency?: string;
  tax_rate?: number;
  prices_include_tax?: boolean;
  status: 'Draft' | 'Sent';
  line_items?: LineInput[] | null;
  early_payment_discounts?: EarlyPaymentDiscount[] | null;
  corrects?: Id | null;
}

export interface InvoiceChanges extends DatesInput, ReferencesInput, ChargesInput, TextsInput, RemindersInput {
  status?: InvoiceStatus;
  description?: string | null;
  due_date?: string;
  amount?: number | null;
  currency?: string | null;
  tax_rate?: number | null;
  prices_include_tax?: boolean | null;
  line_items?: LineInput[] | null;
  client_id?: Id;
  project_id?: Id | null;
  recalculate?: boolean;
  early_payment_discounts?: EarlyPaymentDiscount[] | null;
  corrects?: Id | null;
}

function hasPaymentDays(account: Pick<AccountRecord, 'payment_days'> | undefined): boolean {
  return typeof account?.payment_days === 'number';
}

const OWN_REMINDERS =
  'Whether it is reminded of. The client has a rule of its own as well, and one that stops is enough';

export const newInvoice = Joi.object<NewInvoice, true>({
  client_id: uuid().required(),
  // Lines that are given are summed instead.
  amount: amount()
    .when('line_items', { is: Joi.array().min(1).required(), otherwise: Joi.required() })
    .description('Required without `line_items`; with them their sum counts'),
  due_date: day()
    .meta({ isRequired: true, settledBy: hasPaymentDays })
    .description(
      'May be left out where client or account has `payment_days`: then it is that many days after `issue_date`, or today',
    ),
  project_id: uuid().allow(null),
  description: text().allow(null, ''),
  currency: clientCurrency(),
  tax_rate: newTaxRate(),
  prices_include_tax: pricesIncludeTax(),
  status: Joi.string().valid('Draft', 'Sent').default('Draft'),
  ...datesInput,
  ...chargesInput,
  ...textsInput,
  ...referencesInput,
  line_items: lineItems(),
  early_payment_discounts: earlyPaymentInput().description(
    'Discounts for early payment, printed and honoured by payments; those of the client or the account unless given, none for an empty list',
  ),
  corrects: uuid()
    .allow(null)
    .description(
      'The invoice of the client that this one takes the place of, which was cancelled or credited in whole. It is printed, and makes the e-invoice a corrected one (type 384)',
    ),
  reminders: reminderRuleInput().description(OWN_REMINDERS),
}).example({
  client_id: exampleId.clients,
  project_id: exampleId.projects,
  due_date: '2099-12-31',
  currency: 'EUR',
  tax_rate: 19,
  line_items: [{ description: 'Drawings', quantity: 12, rate: 95 }],
});

export const invoiceChanges = Joi.object<InvoiceChanges, true>({
  status: Joi.string().valid(...INVOICE_STATUSES),
  description: text().allow(null, ''),
  due_date: day(),
  amount: amount(),
  currency: currency(),
  tax_rate: percentage(),
  prices_include_tax: pricesIncludeTax(),
  line_items: lineItems(),
  ...datesInput,
  ...chargesInput,
  ...textsInput,
  ...referencesInput,
  client_id: uuid().description('While Draft; the project must be of the same client'),
  project_id: uuid().allow(null),
  recalculate: Joi.boolean().description(
    'The lines of a draft final invoice of a quote anew, with what is billed by its other parts now',
  ),
  early_payment_discounts: earlyPaymentInput().description('Discounts for early payment, while Draft; none for null'),
  corrects: uuid().allow(null).description('The invoice that this one takes the place of, while Draft; none for null'),
  reminders: reminderRuleInput().description(OWN_REMINDERS),
}).example({ due_date: '2099-11-30' });

export const invoiceList = listOf<InvoiceRecord>(
  Invoice,
  invoiceListing,
  {
    ...documentFilters(),
    status: byStatuses(INVOICE_STATUSES, (statuses, { caller }) =>
      invoicesWithStatus(statuses, dayIn(caller.account.time_zone)),
    ),
  },
  ['client_id', 'status', 'number', 'q', 'issue_date_from', 'issue_date_to', 'due_date_from', 'due_date_to'],
);
