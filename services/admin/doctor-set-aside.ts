// Reports the records that a round or a worker has set aside, with the id that leads to the cause.
import { findSetAside, type RoundTryRecord } from '#libs/models/operations/round-try.ts';
import { type Finding, finding } from './check-result.ts';

const CHECK = 'Records set aside';
const NAMED_MAX = 3;

export async function examineSetAside(): Promise<Finding[]> {
  const records = await findSetAside(NAMED_MAX + 1);
  const named = records.slice(0, NAMED_MAX).map(sentence);
  const more = records.length > NAMED_MAX ? '; and more' : '';
  const found = records.length > 0 ? named.join('; ') + more : 'none';
  const advice =
    'The log of the service that works on them has the error by its id. Each record is tried again once a day';
  return [finding(CHECK, found, records.length === 0, advice)];
}

function sentence({ round, record_id, account_id, error, error_id }: RoundTryRecord): string {
  return `${round}: ${String(record_id)} of account ${String(account_id)}, error ${error_id}: ${error}`;
}
