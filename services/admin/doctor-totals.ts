// Checks the counts from which lists have their totals.
import { errorText } from '#libs/errors.ts';
import { type CountsCompared, compareCounts } from '#libs/models/recount.ts';
import { type Finding, finding } from './check-result.ts';

const CHECK = 'Totals of lists';
const NAMED_MAX = 3;

export async function examineTotals(): Promise<Finding[]> {
  try {
    return findingsOf(await compareCounts());
  } catch (error) {
    // Counting walks along indexes. An absent index is a finding of its own.
    const found = errorText(error);
    return [{ status: 'unknown', check: CHECK, found, advice: 'Run "admin migrate", then this again' }];
  }
}

function findingsOf(compared: readonly CountsCompared[]): Finding[] {
  const damaged = compared.filter(({ wrong }) => wrong !== undefined);
  const without = compared.length - damaged.length;
  const named = damaged
    .slice(0, NAMED_MAX)
    .map(({ account_id, wrong = [] }) => `account ${account_id}: ${wrong.slice(0, NAMED_MAX).join(', ')}`);
  const more = damaged.length > NAMED_MAX ? `; and ${damaged.length - NAMED_MAX} more` : '';
  if (damaged.length > 0) {
    return [finding(CHECK, `wrong in ${named.join('; ')}${more}`, false, 'Run "admin accounts recount [account-id]"')];
  }
  const found = without > 0 ? `${without} account(s) without counts, their lists are slower` : 'as many as there are';
  return [finding(CHECK, found, without === 0, 'Run "admin accounts recount"', 'warning')];
}
