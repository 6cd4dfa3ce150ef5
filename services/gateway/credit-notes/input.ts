// Input of credit notes.
import Joi from 'joi';
import { BILLED_EXPENSES_MAX } from '#libs/billing/expenses/find-expenses.ts';
import { BILLED_ENTRIES_MAX } from '#libs/billing/work/find-unbilled-time.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { text, uuid } from '#libs/input/kinds.ts';
import { CreditNote, type CreditNoteRecord, creditNoteListing } from '#libs/models/billing/credit-note.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import {
  CREDIT_REASONS,
  CREDIT_SETTLEMENTS,
  type CreditReason,
  type CreditSettlement,
} from '#libs/rules/credits/credit-reasons.ts';
import { AMOUNT_MAX, type Decimal } from '#libs/rules/money/money.ts';
import { decimal } from '../fields/decimal-input.ts';
import { byRest } from '../fields/list-filters.ts';
import { type CreditLineInput, creditLineItems } from '../fields/money-input.ts';
import { movedAmount, type RefundDetailsInput, refundDetails } from '../fields/movement-input.ts';
import { ids } from '../fields/time-input.ts';
import { byId, listOf } from '../http/list.ts';

export type CreditRefundBody = RefundDetailsInput & { amount: number };

export interface CreditNoteBody {
  reason: CreditReason;
  description?: string | null;
  amount?: number;
  line_items?: CreditLineInput[] | null;
  shipping_amount?: Decimal | null;
  settle: CreditSettlement;
  time_entry_ids?: Id[];
  expense_ids?: Id[];
  refund?: RefundDetailsInput;
}

export const newCreditNote = Joi.object<CreditNoteBody, true>({
  reason: Joi.string()
    .valid(...CREDIT_REASONS)
    .required()
    .description(
      'A full credit for `cancellation` or `correction` makes the time and the quote of the invoice billable again',
    ),
  description: text().allow(null, '').description('Printed on it'),
  amount: movedAmount().description(
    'Before tax; the tax follows, by rate. Without it and without lines: all that is left',
  ),
  line_items: creditLineItems().description(
    'What is credited, with the signs of the invoice. Their sum counts, less their share of the discount of the invoice',
  ),
  shipping_amount: decimal()
    .within(0, AMOUNT_MAX)
    .description('What is credited of the shipping, alone or beside lines. With tax where prices include it'),
  settle: Joi.string()
    .valid(...CREDIT_SETTLEMENTS)
    .default('credit')
    .description('What becomes of the part beyond what was due: credit of the client, or money that goes back now'),
  refund: Joi.object<RefundDetailsInput>(refundDetails)
    .meta({ schema: 'CreditNoteRefundInput' })
    .description('With `settle` refund: how the money went back'),
  time_entry_ids: ids(BILLED_ENTRIES_MAX).description(
    'What these time entries of the invoice were charged; with `correction` or `cancellation` they can be billed again',
  ),
  expense_ids: ids(BILLED_EXPENSES_MAX).description('The same of expenses'),
})
  .custom(oneWay)
  .example({ reason: 'correction', line_items: [{ description: 'Drawings', quantity: 1, rate: 95 }] });

/** A body names what is credited in one way, and a refund only where money goes back. */
function oneWay(body: CreditNoteBody, helpers: Joi.CustomHelpers) {
  const named = (['time_entry_ids', 'expense_ids'] as const).filter((name) => body[name]);
  const others = [...(body.amount === undefined ? [] : ['amount']), ...(body.line_items ? ['line_items'] : [])];
  const problems = [
    ...named.flatMap((name) => others.map((other) => `${name} must not stand beside ${other}`)),
    ...(body.amount !== undefined && body.line_items?.length ? ['amount must not stand beside line_items'] : []),
    ...(body.amount !== undefined && body.shipping_amount ? ['amount must not stand beside shipping_amount'] : []),
    ...(body.refund && body.settle !== 'refund' ? ['refund is for settle refund only'] : []),
  ];
  return problems.length > 0 ? refuse(helpers, 'credited_in_several_ways', problems.join('; ')) : body;
}

export const creditAllocation = Joi.object<{ invoice_id: Id; amount?: number }, true>({
  invoice_id: uuid().required().description('Another invoice of the client that is due'),
  amount: movedAmount().description('Unless given, what is due, as far as the credit reaches'),
}).example({ invoice_id: exampleId.invoices, amount: 40 });

export const creditRelease = Joi.object<{ allocation_id?: Id }, true>({
  allocation_id: uuid().description('One of the `allocations` to another invoice; all of these unless given'),
}).example({});

export const creditRefund = Joi.object<CreditRefundBody, true>({
  amount: movedAmount().required(),
  ...refundDetails,
}).example({ amount: 10, method: 'bank_transfer' });

export const creditNoteList = listOf<CreditNoteRecord>(
  CreditNote,
  creditNoteListing,
  {
    client_id: byId('client_id'),
    invoice_id: byId('invoice_id', 'The invoice that was credited'),
    unallocated: byRest,
  },
  ['client_id', 'invoice_id', 'date_from', 'date_to', 'unallocated'],
);
