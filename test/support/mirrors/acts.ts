// Acts of callers on records of every kind. Each act names its records by position, so that any sequence can be made and repeated.
import type { AnyRecord } from '../records.ts';

/** Drawn numbers, so that each act can vary. */
export interface Drawn {
  act: string;
  which: number;
  other: number;
  /** An amount. Null leaves it out of the request. */
  cents: number | null;
  isOther: boolean;
}

export interface Request {
  method: 'POST' | 'PATCH' | 'DELETE';
  /** Below /api/v1. */
  path: string;
  body?: object;
}

/** The ids of the records that were made, by resource. A deleted one stays. */
export type Known = Map<string, string[]>;

type Act = (drawn: Drawn, pick: (resource: string, position?: number) => string) => Request;

const UNKNOWN = '019a1f00-0000-7000-8000-000000000000';
const TODAY = () => new Date().toISOString().slice(0, 10);

const post = (path: string, body: object = {}): Request => ({ method: 'POST', path, body });
const patch = (path: string, body: object): Request => ({ method: 'PATCH', path, body });
const remove = (path: string): Request => ({ method: 'DELETE', path });
const oneOf = <Value>(values: readonly Value[], position: number) => values[position % values.length] as Value;
const amountOf = ({ cents }: Drawn) => (cents === null ? {} : { amount: cents / 100 });
const major = ({ cents }: Drawn) => (cents ?? 5_000) / 100;
const lines = (drawn: Drawn) => [{ description: 'Work', quantity: 1 + (drawn.other % 3), rate: major(drawn) }];

export const ACTS: Readonly<Record<string, Act>> = {
  setRate: ({ other }) => patch('/account', { hourly_rate: 50 + other }),
  setRounding: ({ isOther }) =>
    patch('/account', { rounding: isOther ? { minutes: 15, mode: 'up', scope: 'line' } : null }),
  setCancelling: ({ isOther }) => patch('/account', { cancel_with_credit_note: isOther }),
  setTotalRounding: ({ isOther }) => patch('/account', { total_rounding: isOther ? 0.05 : null }),
  setTolerance: ({ isOther }) => patch('/account', { settle_tolerance: isOther ? 1 : 0 }),

  addClient: () => post('/clients', { name: 'Ada', email: 'ada@example.com' }),
  renameClient: ({ other }, pick) => patch(`/clients/${pick('clients')}`, { name: `Ada ${other}` }),
  rateClient: ({ other, isOther }, pick) =>
    patch(`/clients/${pick('clients')}`, isOther ? { hourly_rate: 60 + other } : { payment_days: other }),
  anonymise: ({ which }, pick) => post(`/clients/${which === 0 ? pick('clients') : UNKNOWN}/anonymise`),
  deleteClient: (_drawn, pick) => remove(`/clients/${pick('clients')}`),

  addProject: ({ other, isOther }, pick) =>
    post('/projects', {
      name: 'Engine',
      client_id: pick('clients'),
      ...(isOther ? { billing: 'fixed', fixed_amount: 1_000 + other } : { hourly_rate: 80 }),
    }),
  changeProject: ({ other, isOther }, pick) =>
    patch(
      `/projects/${pick('projects')}`,
      isOther ? { name: `Engine ${other}` } : { hourly_rate: other === 0 ? null : 70 + other },
    ),
  billingOfProject: ({ other }, pick) =>
    patch(
      `/projects/${pick('projects')}`,
      oneOf([{ billing: 'none' }, { billing: 'hourly' }, { billing: 'fixed', fixed_amount: 2_000 }], other),
    ),
  billProject: ({ other, isOther }, pick) =>
    post(`/projects/${pick('projects')}/bill`, { percent: 10 + other, status: isOther ? 'Sent' : 'Draft' }),
  deleteProject: (_drawn, pick) => remove(`/projects/${pick('projects')}`),

  addTask: ({ isOther }, pick) =>
    post('/tasks', { name: 'Draw', project_id: pick('projects'), ...(isOther ? { rate: 95 } : {}) }),
  changeTask: ({ other, isOther }, pick) =>
    patch(
      `/tasks/${pick('tasks')}`,
      isOther ? { name: `Draw ${other}` } : { rate: 90 + other, billable: other % 2 === 0 },
    ),
  deleteTask: (_drawn, pick) => remove(`/tasks/${pick('tasks')}`),

  logTime: ({ other }, pick) =>
    post('/time-entries', { project_id: pick('projects'), hours: 1 + (other % 3), date: '2026-01-02' }),
  logTaskTime: ({ other }, pick) =>
    post('/time-entries', {
      project_id: pick('projects'),
      task_id: pick('tasks'),
      hours: 1 + (other % 3),
      date: '2026-01-02',
    }),
  changeTime: ({ other, isOther }, pick) =>
    patch(
      `/time-entries/${pick('time-entries')}`,
      isOther ? { billable: other % 2 === 0 } : { hours: 1 + (other % 4) },
    ),
  moveTime: (_drawn, pick) => patch(`/time-entries/${pick('time-entries')}`, { task_id: pick('tasks', 1) }),
  settleTime: ({ other }, pick) =>
    post('/time-entries/billing', {
      time_entry_ids: [pick('time-entries')],
      status: oneOf(['unbilled', 'written_off', 'billed_elsewhere'], other),
    }),
  deleteTime: (_drawn, pick) => remove(`/time-entries/${pick('time-entries')}`),

  startTimer: ({ which }, pick) => post('/timers', { project_id: pick('projects'), owner: `owner-${which % 2}` }),
  changeTimer: ({ other }, pick) => patch(`/timers/${pick('timers')}`, { description: `Sketch ${other}` }),
  stopTimer: (_drawn, pick) => post(`/timers/${pick('timers')}/stop`),
  discardTimer: (_drawn, pick) => remove(`/timers/${pick('timers')}`),

  addExpense: (drawn, pick) =>
    post('/expenses', { project_id: pick('projects'), date: '2026-01-03', description: 'Train', amount: major(drawn) }),
  changeExpense: (drawn, pick) =>
    patch(
      `/expenses/${pick('expenses')}`,
      drawn.isOther ? { amount: major(drawn) } : { billable: drawn.other % 2 === 0 },
    ),
  settleExpense: ({ other }, pick) =>
    post('/expenses/billing', {
      expense_ids: [pick('expenses')],
      status: oneOf(['unbilled', 'written_off', 'billed_elsewhere'], other),
    }),
  answerQuestion: ({ other }, pick) => post(`/questions/${pick('questions')}/answer`, { answer: `Yes, ${other}.` }),
  closeQuestion: (_drawn, pick) => post(`/questions/${pick('questions')}/close`),
  deleteExpense: (_drawn, pick) => remove(`/expenses/${pick('expenses')}`),

  addPackage: ({ other, isOther }, pick) =>
    post('/hour-packages', { client_id: pick('clients'), hours: 1 + other, ...(isOther ? { amount: 900 } : {}) }),
  changePackage: ({ other }, pick) => patch(`/hour-packages/${pick('hour-packages')}`, { hours: 5 + other }),
  deletePackage: (_drawn, pick) => remove(`/hour-packages/${pick('hour-packages')}`),

  addItem: (drawn) => post('/items', { name: 'Workshop', rate: major(drawn) }),
  changeItem: (drawn, pick) => patch(`/items/${pick('items')}`, { rate: major(drawn) }),
  deleteItem: (_drawn, pick) => remove(`/items/${pick('items')}`),

  addQuote: (drawn, pick) =>
    post('/quotes', {
      client_id: pick('clients'),
      amount: major(drawn),
      tax_rate: 19,
      status: drawn.isOther ? 'Sent' : 'Draft',
    }),
  changeQuote: (drawn, pick) =>
    patch(
      `/quotes/${pick('quotes')}`,
      oneOf(
        [
          { status: 'Sent' },
          { status: 'Accepted' },
          { status: 'Declined' },
          { amount: major(drawn) },
          { description: 'Mill' },
        ],
        drawn.other,
      ),
    ),
  convert: ({ which, other, isOther }, pick) => {
    const part = oneOf(['full', 'deposit', 'progress', 'final'] as const, other);
    const share = part === 'deposit' || part === 'progress' ? { percent: 10 + which } : {};
    return post(`/quotes/${pick('quotes')}/convert`, {
      part,
      ...share,
      accept: true,
      accept_changes: true,
      status: isOther ? 'Sent' : 'Draft',
    });
  },
  deleteQuote: (_drawn, pick) => remove(`/quotes/${pick('quotes')}`),

  addInvoice: (drawn, pick) =>
    post('/invoices', {
      client_id: pick('clients'),
      line_items: lines(drawn),
      tax_rate: 19,
      due_date: '2099-01-31',
      status: drawn.isOther ? 'Sent' : 'Draft',
    }),
  changeInvoice: (drawn, pick) =>
    patch(
      `/invoices/${pick('invoices')}`,
      oneOf([{ due_date: '2099-02-28' }, { line_items: lines(drawn) }, { description: 'Mill' }], drawn.other),
    ),
  moveInvoice: ({ other }, pick) =>
    patch(`/invoices/${pick('invoices')}`, { status: oneOf(['Sent', 'Sent', 'Paid', 'Overdue', 'Cancelled'], other) }),
  writeOff: (drawn, pick) =>
    post(`/invoices/${pick('invoices')}/write-off`, { ...amountOf(drawn), reason: 'Insolvent' }),
  takeBackWriteOff: (_drawn, pick) => remove(`/invoices/${pick('invoices')}/write-off`),
  deleteInvoice: (_drawn, pick) => remove(`/invoices/${pick('invoices')}`),
  billTime: ({ other, isOther }, pick) =>
    post('/invoices/from-time', {
      client_id: pick('clients'),
      missing_rate: 'zero',
      status: other % 2 === 0 ? 'Draft' : 'Sent',
      include_expenses: isOther,
    }),
  addTime: (_drawn, pick) => post(`/invoices/${pick('invoices')}/time-entries`, { missing_rate: 'zero' }),
  releaseTime: ({ isOther }, pick) =>
    post(
      `/invoices/${pick('invoices')}/time-entries/release`,
      isOther ? { time_entry_ids: [pick('time-entries')] } : {},
    ),

  addRecurring: (drawn, pick) =>
    post('/recurring-invoices', {
      client_id: pick('clients'),
      line_items: lines(drawn),
      schedule: { unit: 'month', start_on: TODAY(), ...(drawn.other % 2 === 0 ? { count: 2 } : {}) },
      create_as: drawn.isOther ? 'Sent' : 'Draft',
      ...(drawn.which % 2 === 0 ? { include_time: { group_by: 'project', missing_rate: 'zero' } } : {}),
    }),
  changeRecurring: ({ other }, pick) => patch(`/recurring-invoices/${pick('recurring-invoices')}`, { due_days: other }),
  pauseRecurring: (_drawn, pick) => post(`/recurring-invoices/${pick('recurring-invoices')}/pause`),
  resumeRecurring: (_drawn, pick) => post(`/recurring-invoices/${pick('recurring-invoices')}/resume`),
  runRecurring: (_drawn, pick) => post(`/recurring-invoices/${pick('recurring-invoices')}/run`),
  deleteRecurring: (_drawn, pick) => remove(`/recurring-invoices/${pick('recurring-invoices')}`),

  pay: (drawn, pick) =>
    post('/payments', {
      client_id: pick('clients'),
      amount: major(drawn),
      ...(drawn.other % 2 === 0 ? {} : { allocations: [] }),
    }),
  payInvoice: (drawn, pick) => post(`/invoices/${pick('invoices')}/payments`, amountOf(drawn)),
  changePayment: ({ other }, pick) => patch(`/payments/${pick('payments')}`, { note: `Note ${other}` }),
  allocate: (drawn, pick) =>
    post(`/payments/${pick('payments')}/allocations`, {
      invoice_id: pick('invoices', drawn.other),
      ...amountOf(drawn),
    }),
  release: (_drawn, pick) => post(`/payments/${pick('payments')}/release`),
  voidPayment: (_drawn, pick) => post(`/payments/${pick('payments')}/void`, { reason: 'Entered twice' }),
  refund: (drawn, pick) =>
    post(`/payments/${pick('payments')}/refunds`, {
      amount: major(drawn),
      ...(drawn.isOther ? { invoice_id: pick('invoices', drawn.other) } : {}),
    }),

  credit: (drawn, pick) =>
    post(`/invoices/${pick('invoices')}/credit-notes`, {
      reason: oneOf(['cancellation', 'correction', 'return', 'goodwill'], drawn.other),
      ...amountOf(drawn),
      ...(drawn.isOther ? { settle: 'refund' } : {}),
    }),
  creditWork: ({ other }, pick) =>
    post(`/invoices/${pick('invoices')}/credit-notes`, {
      reason: oneOf(['correction', 'goodwill'], other),
      time_entry_ids: [pick('time-entries', other)],
    }),
  allocateCredit: (drawn, pick) =>
    post(`/credit-notes/${pick('credit-notes')}/allocations`, {
      invoice_id: pick('invoices', drawn.other),
      ...amountOf(drawn),
    }),
  releaseCredit: (_drawn, pick) => post(`/credit-notes/${pick('credit-notes')}/release`),
  refundCredit: (drawn, pick) => post(`/credit-notes/${pick('credit-notes')}/refunds`, { amount: major(drawn) }),
};

export function requestOf(drawn: Drawn, known: Known): Request {
  return (ACTS[drawn.act] as Act)(drawn, (resource, position = drawn.which) => {
    const ids = known.get(resource) ?? [];
    return ids[position % Math.max(1, ids.length)] ?? UNKNOWN;
  });
}

/** The resource whose record a successful POST made: an action on a record makes none of its own. */
export function remember(known: Known, path: string, { id }: AnyRecord): void {
  const [, first = '', , last] = path.split('/');
  const made: Record<string, string> = {
    convert: 'invoices',
    bill: 'invoices',
    run: 'invoices',
    payments: 'payments',
    'credit-notes': 'credit-notes',
    stop: 'time-entries',
  };
  const resource = path === '/invoices/from-time' ? 'invoices' : last === undefined ? first : made[last];
  if (!resource || typeof id !== 'string') return;
  const ids = known.get(resource) ?? [];
  if (!ids.includes(id)) known.set(resource, [...ids, id]);
}
