// Mutants of the ledger: what keeps money, claims on quotes and timers from happening twice, and sums from going wrong.
import { guard, type Mutant } from './mutant.ts';

const PAYMENTS = 'test/service/gateway/payments.test.ts';
const INDEXES = 'test/service/libs/once-indexes.test.ts';
const CREDITS = 'test/service/gateway/credit-notes.test.ts';
const GUARDS = 'test/service/libs/billing-guards.test.ts';
const TIMERS = 'test/service/gateway/timers.test.ts';

const BOOK = 'libs/billing/book-payment.ts';
const PARTS = 'libs/billing/payment-parts.ts';
const ALLOCATIONS = 'libs/billing/allocations.ts';
const CHANGE = 'libs/billing/change-payment.ts';
const REFUND = 'libs/billing/refund-payment.ts';
const DRAW = 'libs/billing/draw-credit-note.ts';
const CREDIT = 'libs/billing/change-credit-note.ts';
const CLAIM = 'libs/billing/bill-time.ts';

/** An index that is there, but no longer unique. */
function index(gone: string, file: string, unique: string): Mutant {
  const instead = unique.replace('unique: true, ', '');
  return {
    gone,
    edits: [{ file, text: unique, instead }],
    oracle: { file: INDEXES, test: 'then the database rejects it' },
  };
}

export const ledgerMutants: Mutant[] = [
  index(
    'the index that books a payment from outside once',
    'libs/models/billing/payment.ts',
    '{ unique: true, partialFilterExpression: { external_id: { $exists: true } } },',
  ),
  index(
    'the index that books a refund from outside once',
    'libs/models/billing/payment.ts',
    '{ unique: true, partialFilterExpression: { refund_external_ids: { $exists: true } } },',
  ),
  index(
    'the index that books a refund of a credit note once',
    'libs/models/billing/credit-note.ts',
    '{ unique: true, partialFilterExpression: { refund_external_ids: { $exists: true } } },',
  ),
  index(
    'the index that converts a quote once',
    'libs/models/billing/invoice.ts',
    '{ unique: true, partialFilterExpression: { quote_claim: { $exists: true } } },',
  ),
  index(
    'the index that lets one timer of an owner run',
    'libs/models/time/timer.ts',
    "{ unique: true, partialFilterExpression: { status: 'running' } }",
  ),
  index(
    'the index that makes one timer of an entry',
    'libs/models/time/timer.ts',
    "{ unique: true, partialFilterExpression: { status: 'stopped' } },",
  ),
  {
    gone: 'the claim of time demands that it is on no invoice',
    edits: [{ file: CLAIM, text: '          invoice_id: null,\n', instead: '' }],
    oracle: { file: GUARDS, test: 'when an entry is billed after it was read as unbilled' },
  },
  guard('the claim of time counts what it matched', CLAIM, 'if (matchedCount !== records.size) throw', {
    file: GUARDS,
    test: 'when an entry is billed after it was read as unbilled',
  }),
  guard(
    'a balance is never below nothing',
    'libs/billing/settle-invoices.ts',
    'if (balance.amount_paid < 0 || dueOf(next) < 0) throw',
    { file: GUARDS, test: 'then the ledger rejects the movement and nothing is stored' },
  ),
  guard(
    'an invoice is credited once',
    'libs/billing/settle-invoices.ts',
    'if ((next.total_credited ?? 0) > totalOf(next)) throw',
    { file: GUARDS, test: 'when more is credited than an invoice is worth' },
  ),
  {
    gone: 'what earlier credit notes took is no more left',
    edits: [{ file: DRAW, text: 'leftToCredit(invoice, earlier);', instead: 'leftToCredit(invoice, []);' }],
    oracle: { file: CREDITS, test: 'when an invoice is credited in parts' },
  },
  guard(
    'no more of a rate is credited than is left',
    'libs/billing/credit-amounts.ts',
    'if (!rest || !isWithin(group.taxable, rest.taxable)) throw',
    {
      file: 'test/unit/billing/credit-amounts.test.ts',
      test: 'when a rate has less left',
    },
  ),
  {
    gone: 'the last credit note takes the rest of the tax',
    edits: [
      {
        file: 'libs/billing/credit-amounts.ts',
        text: 'if (taxable === left.taxable) return left.tax;',
        instead: '',
      },
    ],
    oracle: { file: 'test/unit/billing/credit-amounts.test.ts', test: 'when each line is credited alone' },
  },
  guard('a draft is not credited', DRAW, "if (status === 'Draft') throw", {
    file: CREDITS,
    test: 'when the invoice is a draft, cancelled or unknown',
  }),
  guard('a cancelled invoice is not credited', DRAW, "if (status === 'Cancelled') throw", {
    file: CREDITS,
    test: 'when the invoice is a draft, cancelled or unknown',
  }),
  {
    gone: 'a credit note takes off what was written off',
    edits: [{ file: DRAW, text: ' + (invoice.amount_written_off ?? 0));', instead: ');' }],
    oracle: { file: CREDITS, test: 'when a part was written off' },
  },
  {
    gone: 'goodwill bills no time again',
    edits: [{ file: DRAW, text: '.every((one) => REVERSING.includes(one));', instead: '.some(() => true);' }],
    oracle: { file: CREDITS, test: 'when all of an invoice with time is credited for %s' },
  },
  {
    gone: 'what is due again is taken off by its credit note',
    edits: [
      {
        file: 'libs/billing/take-back.ts',
        text: "if (!invoice.total_credited || invoice.status === 'Cancelled' || dueOf(invoice) === 0) return",
        instead: 'if (true as boolean) return',
      },
    ],
    oracle: { file: CREDITS, test: 'when a payment of a credited invoice is voided or refunded' },
  },
  {
    gone: 'a cancelled invoice takes none of the credit that is released',
    edits: [{ file: 'libs/billing/take-back.ts', text: " || invoice.status === 'Cancelled'", instead: '' }],
    oracle: { file: CREDITS, test: 'when credit is released after its own invoice was cancelled' },
  },
  guard('no more of a credit note goes back than is left', CREDIT, 'if (amount > unallocated) {', {
    file: CREDITS,
    test: 'when it pays another invoice',
  }),
  {
    gone: 'an external id is of one refund, whatever it was booked with',
    edits: [
      {
        file: 'libs/billing/known-refund.ts',
        text: ' ?? (await driverOf(CreditNote).findOne(wanted, { session }))',
        instead: '',
      },
    ],
    oracle: { file: CREDITS, test: 'when a refund is requested' },
  },
  {
    gone: 'a payment that is known is not booked again',
    edits: [
      {
        file: BOOK,
        text: 'given.external_id && (await findKnown(unit, given.external_id));',
        instead: 'given.external_id && (await findKnown(unit, String(Number.NaN)));',
      },
    ],
    oracle: { file: PAYMENTS, test: 'when two callers send the same external_id concurrently' },
  },
  guard(
    'a payment that is known is the same payment',
    'libs/billing/known-payment.ts',
    'if (isOtherSum || isOtherClient || isOtherInvoice || isOtherwiseAllocated) {',
    { file: PAYMENTS, test: 'when two callers send the same external_id concurrently' },
  ),
  guard('no more is allocated than came', PARTS, 'if (isTooMuch) throw', {
    file: PAYMENTS,
    test: 'when it names %s, then it is rejected and nothing is stored',
  }),
  guard('a payment is not of a day to come', BOOK, 'if (date !== undefined && date > today) throw', {
    file: PAYMENTS,
    test: 'when it names %s, then it is rejected and nothing is stored',
  }),
  {
    gone: 'only a rest within the tolerance is written off',
    edits: [{ file: PARTS, text: 'rest > 0 && rest <= tolerance;', instead: 'rest > 0;' }],
    oracle: { file: PAYMENTS, test: 'when 400 is paid for 335' },
  },
  {
    gone: 'a rest within the tolerance is written off',
    edits: [{ file: PARTS, text: 'rest > 0 && rest <= tolerance;', instead: 'false as boolean;' }],
    oracle: { file: PAYMENTS, test: 'when the remainder is within the tolerance' },
  },
  guard('credit is never below nothing', ALLOCATIONS, 'if (part.amount > unallocated) {', {
    file: PAYMENTS,
    test: 'when an allocation exceeds what is left of a payment',
  }),
  guard('no more goes back than there is', REFUND, 'if (amount > most) {', {
    file: PAYMENTS,
    test: 'when money is refunded',
  }),
  guard('a payment that was refunded is not voided', CHANGE, 'if (payment.refunds.length > 0) throw', {
    file: PAYMENTS,
    test: 'when money is refunded',
  }),
  {
    gone: 'a refund that is known is not booked again',
    edits: [
      { file: REFUND, text: 'given.external_id && (await isKnownRefund(unit, payment, given))', instead: 'false' },
    ],
    oracle: { file: PAYMENTS, test: 'when money is refunded' },
  },
  {
    gone: 'an allocation is released once',
    edits: [{ file: ALLOCATIONS, text: 'named.filter((part) => worth(part) > 0);', instead: 'named;' }],
    oracle: { file: PAYMENTS, test: 'when an allocation is released' },
  },
  guard('a draft is not paid', 'libs/billing/payable-invoices.ts', "if (invoice.status === 'Draft') throw", {
    file: PAYMENTS,
    test: 'when the invoice is a draft or cancelled',
  }),
  {
    gone: 'a part of a quote takes no time',
    edits: [{ file: 'libs/billing/invoice-from-time.ts', text: '  requireNoPart(invoice);\n', instead: '' }],
    oracle: { file: 'test/service/gateway/convert-quote.test.ts', test: 'when a part is still a draft' },
  },
  guard('a timer stops once', 'libs/billing/run-timer.ts', "if (status !== 'running') throw", {
    file: TIMERS,
    test: 'when it is stopped twice',
  }),
];
