// Selects the time that an invoice bills, with its rates and rounding.
import { AppError, validationFailed } from '../../errors.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import { lockAllOwn } from '../../models/records.ts';
import { Project } from '../../models/time/project.ts';
import type { TimeEntryRecord } from '../../models/time/time-entry.ts';
import type { HourlyRate } from '../../rules/time/hourly-rate.ts';
import type { TimeToBill } from '../../rules/time/time-lines.ts';
import { effectiveRounding, type TimeRounding } from '../../rules/time/time-rounding.ts';
import { timeContext, timeToBill } from '../time/time-context.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { findUnbilledTime, type WantedTime } from './find-unbilled-time.ts';

/** The most ids that a message names. */
const NAMED_MAX = 10;

/** The error for a selection that no entry matches. */
export class NothingToBill extends AppError {
  constructor() {
    super('nothing_to_bill', 'Nothing to bill');
  }
}

export interface TimeSelection extends Readonly<WantedTime['selection']> {
  missing_rate: 'refuse' | 'skip' | 'zero';
  /** The rounding that replaces the rules of project, client and account. */
  rounding?: TimeRounding | undefined;
}

interface Billing extends WantedTime {
  account: AccountRecord;
  selection: TimeSelection;
}

export interface SelectedTime {
  record: TimeEntryRecord;
  toBill: TimeToBill;
  /** The rate. Undefined for an entry that is billed at 0 because no rate is set. */
  rate: HourlyRate | undefined;
}

/**
 * Reads the entries in the transaction and locks their projects, so that none moves to another client meanwhile.
 * @returns none when there is nothing to bill.
 * @throws AppError 404, 400 or 409 with the reason why the selection cannot be billed.
 */
export async function selectTime(unit: UnitOfWork, billing: Billing): Promise<SelectedTime[]> {
  const { selection, client, account } = billing;
  const records = await findUnbilledTime(unit, billing);
  const contextOf = await timeContext(records, unit.accountId, unit.session);
  const selected = records.map((record): SelectedTime => {
    const { project, task, rate } = contextOf(record);
    const rounding = effectiveRounding(
      selection.rounding,
      project?.rounding,
      client.rounding,
      account.rounding as TimeRounding | null | undefined,
    );
    const billed = { rate: rate?.rate ?? 0, rateFrom: rate?.from ?? 'none', rounding } as const;
    return { record, toBill: timeToBill(record, { project, task }, billed), rate };
  });
  const rated = withRates(selected, selection.missing_rate);
  const projects = rated.map(({ toBill }) => toBill.project.id);
  await lockAllOwn(Project, unit.accountId, projects, unit.session);
  return rated;
}

function withRates(selected: SelectedTime[], instead: TimeSelection['missing_rate']): SelectedTime[] {
  const without = selected.filter(({ rate }) => rate === undefined);
  if (without.length === 0 || instead === 'zero') return selected;
  if (instead === 'skip') return selected.filter(({ rate }) => rate !== undefined);
  const named = without.slice(0, NAMED_MAX).map(({ record }) => String(record._id));
  const more = without.length > named.length ? ' and others' : '';
  const [count, verb] = without.length === 1 ? ['1 time entry', 'has'] : [`${without.length} time entries`, 'have'];
  const message = `${count} ${verb} no rate: ${named.join(', ')}${more}`;
  const params = { count: without.length, time_entry_ids: named };
  throw validationFailed([{ path: ['rate'], code: 'rate_missing', message, params }]);
}
