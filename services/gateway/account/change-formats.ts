// Computes an account's number formats after a change. No two kinds of document look alike, and a sequence begins once.

import { appError, fieldProblem } from '#libs/errors.ts';
import type { AccountRecord } from '#libs/models/accounts/account.ts';
import { sequencesOf } from '#libs/models/sequences.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { type NumberFormats, numberFormat, sequenceOf } from '#libs/rules/documents/number-format.ts';
import { NUMBER_KINDS } from '#libs/rules/documents/number-kinds.ts';
import type { AccountChanges } from './input.ts';

/** Returns the formats to store. A kind that is not named keeps its format, and null takes the default back. @throws AppError 400 or 409. */
export async function changedFormats(
  account: AccountRecord,
  { number_formats: given }: AccountChanges,
  session: Session,
) {
  if (given === undefined) return {};
  const before = account.number_formats as NumberFormats | undefined;
  // Formats that were set once stay set. When all are null, they stay set to the defaults: see the model.
  const next = Object.fromEntries(
    Object.entries(given === null ? {} : { ...before, ...given }).filter(([, format]) => format !== null),
  ) as NumberFormats;
  const prefixes = NUMBER_KINDS.map((kind) => numberFormat(next, kind).prefix);
  if (new Set(prefixes).size < prefixes.length) {
    throw fieldProblem('number_formats', 'prefix_taken');
  }
  for (const kind of NUMBER_KINDS) {
    const { start, restart } = numberFormat(next, kind);
    if (restart === 'yearly' || start === numberFormat(before, kind).start) continue;
    const isBegun = (await sequencesOf(session, String(account._id), kind)).some(({ period }) => period === '');
    if (isBegun) throw appError('number_start_fixed', { sequence: sequenceOf(kind, '') });
  }
  return { number_formats: next };
}
