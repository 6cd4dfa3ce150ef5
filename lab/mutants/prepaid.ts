// Mutants of what is agreed beforehand or spent: fixed amounts, prepaid hours and expenses, which are billed and drawn once.
import { guard, type Mutant } from './mutant.ts';

const FIXED = 'test/service/gateway/fixed-amount.test.ts';
const PACKAGES = 'test/service/gateway/hour-packages.test.ts';
const EXPENSES = 'test/service/gateway/expenses.test.ts';
const GUARDS = 'test/service/libs/billing-guards.test.ts';

export const prepaidMutants: Mutant[] = [
  {
    gone: 'the update that bills a fixed amount demands that so much is left',
    edits: [
      {
        file: 'libs/billing/fixed-amount.ts',
        text: "billing: 'fixed', $expr: isWithin }",
        instead: "billing: 'fixed' }",
      },
    ],
    oracle: { file: GUARDS, test: 'when more of a fixed amount is taken than is left' },
  },
  guard('no more of a fixed amount is billed than is left', 'libs/billing/fixed-amount.ts', 'if (part > left) throw', {
    file: FIXED,
    test: 'when a fixed amount is billed in parts and then the rest',
  }),
  {
    gone: 'an invoice that is deleted or cancelled gives its part of a fixed amount back',
    edits: [
      { file: 'libs/billing/release-billed.ts', text: '  await releaseFixedPart(unit, invoice);\n', instead: '' },
    ],
    oracle: { file: FIXED, test: 'when a draft is deleted and a sent invoice cancelled' },
  },
  guard(
    'time that a fixed amount covers is not billed by its id',
    'libs/billing/time-guard.ts',
    "if (billing === 'fixed') throw",
    { file: FIXED, test: 'when the time of the project is listed and billed' },
  ),
  {
    gone: 'a filter selects no time that a fixed amount covers',
    edits: [
      {
        file: 'libs/billing/selected-work.ts',
        text: 'found.filter(({ billing }) => billing === undefined).map(',
        instead: 'found.map(',
      },
    ],
    oracle: { file: FIXED, test: 'when the time of the project is listed and billed' },
  },
  {
    gone: 'the update that draws hours demands that so many are left',
    edits: [
      {
        file: 'libs/billing/draw-hours.ts',
        text: 'account_id: storedId(accountId), $expr: isWithin }',
        instead: 'account_id: storedId(accountId) }',
      },
    ],
    oracle: { file: GUARDS, test: 'when more hours are drawn than a package has' },
  },
  {
    gone: 'an invoice that is deleted or cancelled gives its prepaid hours back',
    edits: [{ file: 'libs/billing/release-billed.ts', text: '  await giveHoursBack(unit, invoice);\n', instead: '' }],
    oracle: { file: PACKAGES, test: 'when the draft is deleted, the invoice cancelled or time removed' },
  },
  {
    gone: 'a line that is covered whole has its own quantity',
    edits: [
      {
        file: 'libs/billing/draw-hours.ts',
        text: 'seconds === billed ? qty : hoursQuantity(seconds)',
        instead: "seconds === billed ? '1' : hoursQuantity(seconds)",
      },
    ],
    oracle: { file: PACKAGES, test: 'when 50 minutes are fully covered' },
  },
  guard(
    'a package keeps the hours that were drawn',
    'services/gateway/hour-packages/routes.ts',
    'if (seconds < drawn_seconds) {',
    { file: PACKAGES, test: 'when a package is changed or deleted' },
  ),
  {
    gone: 'the claim of expenses demands that they are on no invoice',
    edits: [
      {
        file: 'libs/models/time/expense.ts',
        text: 'export const UNBILLED_EXPENSES = { invoice_id: null, settled: null, billable: true } as const;',
        instead: 'export const UNBILLED_EXPENSES = { settled: null, billable: true } as const;',
      },
      {
        file: 'libs/billing/bill-expenses.ts',
        text: 'const when = { invoice_id: null, settled: null };',
        instead: 'const when = {};',
      },
    ],
    oracle: { file: EXPENSES, test: 'when 8 callers bill the same expenses concurrently' },
  },
  {
    gone: 'an invoice that is deleted or cancelled gives its expenses back',
    edits: [{ file: 'libs/billing/release-billed.ts', text: '  await releaseExpenses(unit, invoice);\n', instead: '' }],
    oracle: { file: EXPENSES, test: 'when an expense is on a draft or issued invoice, then it is locked' },
  },
  guard(
    'expenses of another currency are not billed',
    'libs/billing/find-expenses.ts',
    'if (found.some((expense) => expense.currency !== currency)) {',
    { file: EXPENSES, test: 'when expenses are included' },
  ),
  guard(
    'what was billed of a fixed amount keeps its terms',
    'services/gateway/projects/fixed-amount.ts',
    'if ((next.fixed_amount ?? 0) < billed) {',
    { file: FIXED, test: 'when the amount is missing, inexact or below what was billed' },
  ),
];
