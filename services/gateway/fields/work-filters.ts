// Filters of the lists of time and of expenses: both are work on a project that an invoice may bill.
import Joi from 'joi';
import { fieldProblem } from '#libs/errors.ts';
import { uuid } from '#libs/input/kinds.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { findIds } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { Project, type ProjectBilling } from '#libs/models/time/project.ts';
import type { BillingState } from '#libs/models/time/time-entry.ts';
import { type Asked, byId, oneByOne } from '../http/list.ts';

/** The condition of a list names at most as many projects, or drafts. */
const RELATED_MAX = 20_000;

/** The differences between filters of time and of expenses. */
interface Work {
  states: readonly BillingState[];
  /** Work that can be billed, whatever its project. */
  unbilled: Readonly<Record<string, unknown>>;
  /** The field of an invoice that bills some. */
  onInvoice: 'time' | 'expenses';
  /** Projects whose fixed amount pays for it. */
  coveredBy: readonly ProjectBilling[];
}

interface WorkQuery {
  project_id?: Id;
  invoice_id?: Id;
}

/** Two conditions on one field are decided here: the database would sort in memory to find nothing. */
export function workFilters(work: Work) {
  const name = work.onInvoice === 'time' ? 'Time' : 'Expenses';
  return {
    project_id: byId('project_id'),
    client_id: {
      input: uuid().description('Only records of this client'),
      where: async (client_id: Id, { caller, query: { project_id } }: Asked<WorkQuery>) => {
        const wanted = { account_id: storedId(caller.accountId), client_id: storedId(client_id), ...oneOf(project_id) };
        const projects = await relatedIds('client_id', Project, wanted);
        if (project_id) return has(projects, project_id) ? {} : null;
        return oneByOne({ project_id: { $in: projects } });
      },
    },
    invoice_id: byId('invoice_id', `${name} on this invoice`),
    billing: {
      input: Joi.string()
        .valid(...work.states)
        .description('What became of it: `unbilled` is what could be billed'),
      where: (billing: BillingState, { caller, query }: Asked<WorkQuery>) =>
        billingFilter(storedId(caller.accountId), billing, query, work),
    },
  };
}

/**
 * The condition of a state; null when nothing on the invoice that is asked for is ever in it. Whether an invoice is a draft is known from
 * the invoice alone.
 */
async function billingFilter(
  account_id: StoredId,
  billing: BillingState,
  { project_id, invoice_id: invoiceId }: WorkQuery,
  { unbilled, onInvoice, coveredBy }: Work,
) {
  const billed = (by: readonly ProjectBilling[]) =>
    relatedIds('billing', Project, { account_id, billing: { $in: by }, ...oneOf(project_id) });
  switch (billing) {
    case 'unbilled': {
      if (invoiceId) return null;
      const others = await billed([...coveredBy, 'none']);
      return onNone({ ...unbilled, ...(others.length > 0 ? { project_id: { $nin: others } } : {}) });
    }
    case 'covered':
      return invoiceId ? null : onNone({ ...unbilled, project_id: { $in: await billed(coveredBy) } });
    case 'not_billable': {
      if (invoiceId) return null;
      const unpaid = await billed(['none']);
      return onNone({ $or: [{ billable: false }, { project_id: { $in: unpaid } }], settled: null });
    }
    case 'on_draft':
    case 'billed': {
      const wanted = { account_id, status: 'Draft', [onInvoice]: { $exists: true }, ...oneOf(invoiceId) };
      const drafts = await relatedIds('billing', Invoice, wanted);
      if (invoiceId) return has(drafts, invoiceId) === (billing === 'on_draft') ? {} : null;
      return oneByOne({ invoice_id: billing === 'on_draft' ? { $in: drafts } : { $ne: null, $nin: drafts } });
    }
    case 'billed_elsewhere':
    case 'written_off':
      return oneByOne({ settled: billing });
  }
}

/** The condition on work that no invoice has. */
function onNone({ invoice_id: _null, ...condition }: Readonly<Record<string, unknown>>) {
  return { invoice_id: null, ...oneByOne(condition) };
}

function has(ids: readonly StoredId[], id: Id): boolean {
  return ids.some((one) => String(one) === id);
}

/** A list of one project or invoice asks for that one only. */
const oneOf = (id: Id | undefined) => (id ? { _id: storedId(id) } : {});

/** @throws AppError 400 for `field`, when it concerns too many. */
async function relatedIds(field: string, records: Parameters<typeof findIds>[0], wanted: object): Promise<StoredId[]> {
  const ids = await findIds(records, wanted, { limit: RELATED_MAX + 1 });
  if (ids.length > RELATED_MAX) throw fieldProblem(field, 'concerns_too_many', { limit: RELATED_MAX });
  return ids;
}
