// Time and hour packages for the rules, which need no store: only what a test is about has to be given.
import { newId, newRecord } from '#libs/models/tenant.ts';
import type { HourPackageRecord } from '#libs/models/time/hour-package.ts';
import type { TimeToBill } from '#libs/rules/time/time-lines.ts';

type Given = Pick<TimeToBill, 'date' | 'seconds'> & Partial<Omit<TimeToBill, 'project'>>;

/** @param projectId the project, whose name is "Engine". */
export function timeToBill(projectId: string, given: Given): TimeToBill {
  return {
    id: newId(),
    project: { id: projectId, name: 'Engine' },
    task: null,
    description: null,
    member: null,
    rate: 0,
    rateFrom: 'none',
    rounding: null,
    ...given,
  };
}

/** The fields of a rate that is set for the entry, or of none. */
export function rateOf(rate: number, isRated: boolean): Pick<TimeToBill, 'rate' | 'rateFrom'> {
  return isRated ? { rate, rateFrom: 'entry' } : { rate: 0, rateFrom: 'none' };
}

/** @param projectId the project that the hours are for; null for all projects of the client. */
export function hourPackage(projectId: string | null, given: Partial<HourPackageRecord>): HourPackageRecord {
  return {
    ...newRecord(newId()),
    client_id: newRecord(newId())._id,
    project_id: projectId as never,
    name: null,
    hours: 0,
    seconds: 0,
    drawn_seconds: 0,
    amount: null,
    currency: null,
    valid_from: null,
    valid_until: null,
    rollover: false,
    low_hours: null,
    ...given,
  };
}
