// The result of one check of `admin doctor`.
import { errorText } from '#libs/errors.ts';

export interface Finding {
  /** `problem`: the system fails or loses work. `warning`: it works until something else fails. */
  status: 'ok' | 'warning' | 'problem' | 'unknown';
  check: string;
  found: string;
  /** The next step for the operator. Absent for `ok`. */
  advice?: string;
}

/** Makes a finding. @param bad the status when `isWell` is false. */
export function finding(
  check: string,
  found: string,
  isWell: boolean,
  advice: string,
  bad: 'warning' | 'problem' = 'problem',
): Finding {
  return isWell ? { status: 'ok', check, found } : { status: bad, check, found, advice };
}

/** Runs a check. @returns its findings, or a problem with the reason why there are none. */
export async function orProblem(check: string, examine: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await examine();
  } catch (error) {
    const found = `cannot be checked: ${errorText(error)}`;
    const advice = 'Check that MongoDB responds and that its user may read all collections';
    return [{ status: 'problem', check, found, advice }];
  }
}

/** True when `version` is at least `least`. Compares major and minor only. */
export function isAtLeast(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** The differences that matter, because leases, deadlines and webhook signatures compare clocks of several machines. */
const CLOCK_WARNING_MS = 1_000;
const CLOCK_PROBLEM_MS = 5_000;

export function clockFinding(check: string, aheadMs: number): Finding {
  const off = Math.abs(aheadMs);
  const found = off < 50 ? 'agrees with ours' : `${off} ms ${aheadMs > 0 ? 'ahead of' : 'behind'} ours`;
  const advice = 'Let chrony or ntpd keep the clocks of all machines';
  return finding(check, found, off < CLOCK_WARNING_MS, advice, off < CLOCK_PROBLEM_MS ? 'warning' : 'problem');
}
