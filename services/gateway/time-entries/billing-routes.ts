// Settling time by hand: it was billed before Billhook, or is given away.
import Joi from 'joi';
import { requireBillable } from '#libs/billing/time/time-guard.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { announceEntries } from '#libs/billing/work/claim-time.ts';
import { BILLED_ENTRIES_MAX } from '#libs/billing/work/find-unbilled-time.ts';
import { changeWork, namedWork, TIME } from '#libs/billing/work/work-records.ts';
import { appError } from '#libs/errors.ts';
import { uuid } from '#libs/input/kinds.ts';
import type { Id } from '#libs/models/tenant.ts';
import { type TimeEntryRecord, WORK_SETTLEMENTS, type WorkSettlement } from '#libs/models/time/time-entry.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { number } from '#libs/responses/response-fields.ts';
import { updated } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';

interface BillingInput {
  time_entry_ids: Id[];
  status: WorkSettlement | 'unbilled';
}

const STATUSES = [...WORK_SETTLEMENTS, 'unbilled'] as const;

const billingInput = Joi.object<BillingInput, true>({
  time_entry_ids: Joi.array().items(uuid()).min(1).max(BILLED_ENTRIES_MAX).required(),
  status: Joi.string()
    .valid(...STATUSES)
    .required(),
}).example({ time_entry_ids: [exampleId['time-entries']], status: 'billed_elsewhere' });

export const billingRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/time-entries/billing',
    operation: 'settleTimeEntries',
    scope: 'time-entries:write',
    body: billingInput,
    docs: {
      title: 'Settle time by hand',
      summary: 'Settle time by hand, or make it unbilled again',
      description:
        'For time that was billed elsewhere or is given away: no invoice takes it, and it cannot be changed until it is unbilled again. All of the entries or none.',
      status: 200,
      response: Joi.object({
        status: Joi.string()
          .valid(...STATUSES)
          .required(),
        changed: number(),
      })
        .id('SettledTime')
        .example({ status: 'billed_elsewhere', changed: 1 }),
      missingReference: 'Time entry not found or access denied',
      conflict: appError('time_entry_already_billed', { number: 'INV-0042' }),
    },
    handler: settle,
  }),
];

async function settle({ body, commit }: Context<BillingInput>) {
  const settled = body.status === 'unbilled' ? null : body.status;
  return commit(async (unit) => {
    const entries = await namedWork(TIME, unit, body.time_entry_ids);
    for (const entry of entries) {
      // A settled entry may become unbilled, or be settled in the other way.
      await requireBillable({ ...entry, settled: null }, unit.accountId, unit.session);
    }
    const changing = entries.filter((entry) => (entry.settled ?? null) !== settled);
    if (changing.length > 0) await write(unit, changing, settled);
    return updated({ status: body.status, changed: changing.length });
  });
}

async function write(unit: UnitOfWork, entries: readonly TimeEntryRecord[], settled: WorkSettlement | null) {
  const updated_at = await changeWork(TIME, unit, { work: entries, when: { invoice_id: null }, set: { settled } });
  await announceEntries(
    unit,
    entries.map((entry) => ({ ...entry, settled, updated_at })),
  );
}
