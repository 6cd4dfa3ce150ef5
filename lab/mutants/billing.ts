// Mutants of the billing core: what bills time and quotes once.
import type { Mutant } from './mutant.ts';

const FROM_TIME = 'test/service/gateway/invoice-from-time.test.ts';
const CONVERT = 'test/service/gateway/convert-quote.test.ts';

export const billingMutants: Mutant[] = [
  {
    gone: 'a cancelled invoice gives its time back',
    edits: [
      {
        file: 'services/gateway/invoices/routes.ts',
        text: "if (changed.status === 'Cancelled') await releaseBilled(transaction, invoice);",
        instead: '',
      },
    ],
    oracle: { file: FROM_TIME, test: 'when a draft with time is deleted and a sent invoice cancelled' },
  },
  {
    gone: 'what is on an invoice is not selected again',
    edits: [
      {
        file: 'libs/models/time/time-entry.ts',
        text: 'export const UNBILLED = { invoice_id: null, settled: null, billable: { $ne: false } } as const;',
        instead: 'export const UNBILLED = { settled: null, billable: { $ne: false } } as const;',
      },
      {
        file: 'libs/billing/bill-time.ts',
        text: '          invoice_id: null,\n          settled: null,\n',
        instead: '',
      },
    ],
    oracle: { file: FROM_TIME, test: 'when 8 callers bill overlapping time concurrently' },
  },
  {
    gone: 'time on a draft cannot be changed',
    edits: [
      {
        file: 'services/gateway/time-entries/routes.ts',
        text: 'await requireFree(entry, accountId, { session, changed: changedFields(entry, changes) });',
        instead: '',
      },
    ],
    oracle: { file: FROM_TIME, test: 'when time is on a draft, then neither it nor its project' },
  },
  {
    gone: 'a line is made of the printed quantity',
    edits: [{ file: 'libs/billing/time-rounding.ts', text: 'round(HOURS_DECIMALS,', instead: 'round(12,' }],
    oracle: { file: 'test/unit/billing/time-rounding.test.ts', test: 'when 50 minutes cost 100 an hour' },
  },
  {
    gone: 'a quote is converted once',
    edits: [
      {
        file: 'libs/billing/convert-quote.ts',
        text: 'if (claimed && (isWhole || left === 0)) {',
        instead: 'if (false as boolean) {',
      },
      {
        file: 'libs/billing/convert-quote.ts',
        text: 'if (left < quoted) throw onlyLeft(quote, left);',
        instead: '',
      },
      {
        file: 'libs/models/billing/invoice.ts',
        text: '{ unique: true, partialFilterExpression: { quote_claim: { $exists: true } } },',
        instead: '{ partialFilterExpression: { quote_claim: { $exists: true } } },',
      },
    ],
    oracle: { file: CONVERT, test: 'when eight callers convert one quote concurrently' },
  },
  {
    gone: 'a quote that was changed since it was accepted is not converted',
    edits: [
      {
        file: 'libs/billing/convert-quote.ts',
        text: 'if (isChangedSince(quote) && !accept_changes)',
        instead: 'if (false as boolean)',
      },
    ],
    oracle: { file: CONVERT, test: 'when the amount was changed after the quote was accepted' },
  },
];
