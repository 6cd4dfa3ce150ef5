// Settling time by hand: it was billed before Billhook, or is given away.
import Joi from 'joi';
import { announceEntries } from '#libs/billing/bill-time.ts';
import { BILLED_ENTRIES_MAX } from '#libs/billing/find-billable-time.ts';
import { requireBillable } from '#libs/billing/time-guard.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { notFound } from '#libs/errors.ts';
import { changeTime } from '#libs/models/counter.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import { SETTLEMENTS, type Settlement, TimeEntry, type TimeEntryRecord } from '#libs/models/time/time-entry.ts';
import { staleRead } from '#libs/mongo/errors.ts';
import { exampleId } from '../fields/example-ids.ts';
import { uuid } from '../fields/input-fields.ts';
import { number } from '../fields/response-fields.ts';
import { updated } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';

interface BillingInput {
  time_entry_ids: Id[];
  status: Settlement | 'unbilled';
}

const STATUSES = [...SETTLEMENTS, 'unbilled'] as const;

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
      conflict: 'Time entry is already on INV-0042',
    },
    handler: settle,
  }),
];

async function settle({ body, commit }: Context<BillingInput>) {
  const settled = body.status === 'unbilled' ? null : body.status;
  return commit(async (unit) => {
    const entries = await namedEntries(unit, body.time_entry_ids);
    for (const entry of entries) {
      // What is settled already may become unbilled, or be settled in the other way.
      await requireBillable({ ...entry, settled: null }, unit.accountId, unit.session);
    }
    const changing = entries.filter((entry) => (entry.settled ?? null) !== settled);
    if (changing.length > 0) await write(unit, changing, settled);
    return updated({ status: body.status, changed: changing.length });
  });
}

async function namedEntries({ session, accountId }: UnitOfWork, ids: readonly Id[]): Promise<TimeEntryRecord[]> {
  const filter = { account_id: storedId(accountId), _id: { $in: ids.map(storedId) } };
  const entries = await driverOf(TimeEntry)
    .find(filter, { session, batchSize: ids.length + 1 })
    .toArray();
  if (entries.length < new Set(ids).size) throw notFound('Time entry', 'or access denied');
  return entries as unknown as TimeEntryRecord[];
}

async function write(unit: UnitOfWork, entries: readonly TimeEntryRecord[], settled: Settlement | null) {
  const { session, accountId } = unit;
  const updated_at = await changeTime(session, accountId, new Date());
  const { matchedCount } = await driverOf(TimeEntry).updateMany(
    { account_id: storedId(accountId), _id: { $in: entries.map(({ _id }) => _id) }, invoice_id: null } as object,
    { $set: { settled, updated_at } as object },
    { session },
  );
  if (matchedCount !== entries.length) throw staleRead('time was billed meanwhile');
  await announceEntries(
    unit,
    entries.map((entry) => ({ ...entry, settled, updated_at })),
  );
}
