// The requests of every operation over a full account, which meet all that it keeps.
import { isList, type Route } from '../../services/gateway/http/route.ts';
import { type FullAccount, LINE_TEXT, PAGE } from './full-account.ts';
import type { TestGateway } from './gateway.ts';
import { bodyFor, kindOf } from './operations.ts';
import { routeTable } from './route-table.ts';

/** A request of an operation over a full account. */
export interface FullAccountCase {
  row: Route;
  name: string;
  query?: string | ((full: FullAccount) => string);
  id?: (full: FullAccount) => string | undefined;
  body?: (full: FullAccount) => object;
}

const gathered = { group_by: 'none', line_text: LINE_TEXT, missing_rate: 'zero' };

/** Further requests of an operation, or another one in place of the usual. */
const CASES: Readonly<Record<string, readonly Omit<FullAccountCase, 'row' | 'name'>[]>> = {
  getClientBalance: [{}, { query: '?as_of=2026-02-01' }],
  getStatement: [{ query: ({ clientId }) => `?client_id=${clientId}&from=2000-01-01&to=2026-11-01` }],
  printStatement: [{ query: ({ clientId }) => `?client_id=${clientId}&from=2000-01-01&to=2026-11-01` }],
  sendStatement: [
    { id: ({ clientId }) => clientId, body: () => ({ period: { from: '2000-01-01', to: '2026-11-01' } }) },
  ],
  getInvoicePayments: [{}],
  createTask: [{ body: ({ ids }) => ({ name: 'x', project_id: ids['projects'] }) }],
  createTimeEntry: [
    { body: ({ ids }) => ({ hours: 1, date: '2026-01-02', project_id: ids['projects'], task_id: ids['tasks'] }) },
  ],
  settleTimeEntries: [
    { body: ({ entryIds }) => ({ time_entry_ids: entryIds, status: 'written_off' }) },
    { body: ({ entryIds }) => ({ time_entry_ids: entryIds, status: 'unbilled' }) },
  ],
  settleExpenses: [
    { body: ({ expenseIds }) => ({ expense_ids: expenseIds, status: 'written_off' }) },
    { body: ({ expenseIds }) => ({ expense_ids: expenseIds, status: 'unbilled' }) },
  ],
  createInvoiceFromTime: [
    { query: '?dry_run=true', body: ({ clientId }) => ({ client_id: clientId, ...gathered }) },
    {
      query: '?dry_run=true',
      body: ({ clientId }) => ({ client_id: clientId, include_time: false, include_expenses: true }),
    },
    { body: ({ clientId }) => ({ client_id: clientId, ...gathered }) },
  ],
  createPayment: [{ body: ({ clientId }) => ({ client_id: clientId, amount: 30_000_000 }) }],
  payInvoice: [{ body: () => ({ amount: 1 }) }],
  creditInvoice: [{}, { id: ({ ids }) => ids['credited-invoices'], body: () => ({ reason: 'return', amount: 1 }) }],
  updateInvoice: [{}, { id: ({ ids }) => ids['sent-invoices'], body: () => ({ status: 'Cancelled' }) }],
  allocatePayment: [{ body: ({ invoiceIds }) => ({ invoice_id: invoiceIds[3], amount: 1 }) }],
  allocateCreditNote: [{ body: ({ invoiceIds }) => ({ invoice_id: invoiceIds[3], amount: 1 }) }],
  voidPayment: [{ id: ({ ids }) => ids['voidable-payments'], body: () => ({ reason: 'x' }) }],
  deleteInvoice: [{ id: ({ ids }) => ids['timed-invoices'] }, {}],
  createDocuments: [{ body: ({ invoiceIds }) => ({ documents: invoiceIds.map((id) => ({ type: 'invoice', id })) }) }],
};

/** Reads first, deletions last: each finds a full account. */
const ORDER = ['get', 'post', 'patch', 'delete'];
const isEnd = ({ operation }: Route) => operation === 'anonymiseClient';
export const fullAccountCases: readonly FullAccountCase[] = routeTable
  .toSorted(
    (one, other) =>
      Number(isEnd(one)) - Number(isEnd(other)) || ORDER.indexOf(one.method) - ORDER.indexOf(other.method),
  )
  .flatMap((row) =>
    (CASES[row.operation] ?? [{}]).map((one, index) => ({
      ...one,
      row,
      name: `${row.operation} ${index || ''}`.trim(),
    })),
  );

/** Returns the path of the request, and what `fetch` takes besides. */
export async function requestOf({ row, query, id, body }: FullAccountCase, gateway: TestGateway, full: FullAccount) {
  const at = id?.(full) ?? (row.path.includes('{id}') ? full.ids[kindOf(row.path)] : '');
  const payload = body?.(full) ?? (await bodyFor(gateway, row.operation, full.account));
  const path = row.path.replace('{id}', String(at)).replace('{index}', '0');
  return {
    path: path + ((typeof query === 'function' ? query(full) : query) ?? (isList(row) ? `?limit=${PAGE}` : '')),
    method: row.method.toUpperCase(),
    headers: { Authorization: `Bearer ${full.account.key}`, 'Content-Type': 'application/json' },
    ...(payload ? { body: JSON.stringify(payload) } : {}),
  };
}
