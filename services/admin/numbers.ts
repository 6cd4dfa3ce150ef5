// The commands about the numbers of invoices, quotes, credit notes and payments.

import { documentNumber, numberIn, skipNumbers } from '#libs/models/billing/number-ledger.ts';
import { Counter } from '#libs/models/counter.ts';
import { drawMany } from '#libs/models/sequences.ts';
import type { Id } from '#libs/models/tenant.ts';
import { inTransaction, type Session } from '#libs/mongo/connection.ts';
import { NUMBER_KINDS, type NumberKind } from '#libs/rules/documents/number-kinds.ts';
import { requireAccount } from './accounts.ts';
import { recorded } from './audited.ts';
import { CommandError } from './connection.ts';

/** The most numbers to skip. Skipping cannot be undone, so one digit too many must fail. */
const SKIPPED_MOST = 10_000;

/** Skips the numbers that were drawn after a restored backup. The next document gets the number after `to`. */
export async function advanceNumbers(options: { account: string; kind: string; to: string }) {
  await requireAccount(options.account);
  const kind = kindOf(options.kind);
  const to = numberOf(kind, options.to);
  const { first } = await recorded('numbers.advance', options.account, () => advance(options.account, kind, to));
  return {
    account_id: options.account,
    kind,
    skipped: to - first + 1,
    first: documentNumber(kind, first),
    last: documentNumber(kind, to),
    next: documentNumber(kind, to + 1),
  };
}

async function advance(accountId: Id, kind: NumberKind, to: number) {
  const first = await inTransaction((session) => skipTo(session, { accountId, kind, to }));
  return { first, detail: `${documentNumber(kind, first)} to ${documentNumber(kind, to)} skipped` };
}

/** Skips numbers. @returns the first one. */
async function skipTo(session: Session, { accountId, kind, to }: { accountId: Id; kind: NumberKind; to: number }) {
  const counter = await Counter.findById(accountId, { [kind]: 1 }, { session }).lean();
  const count = to - (counter?.[kind] ?? 0);
  if (count <= 0) {
    throw new CommandError(
      `${documentNumber(kind, to)} is drawn already; the last one is ${documentNumber(kind, to - count)}`,
    );
  }
  if (count > SKIPPED_MOST) {
    throw new CommandError(
      `${documentNumber(kind, to)} would skip ${count} numbers; at most ${SKIPPED_MOST} are skipped at once`,
    );
  }
  // A number drawn since the read conflicts here, and the transaction retries.
  const first = await drawMany(session, accountId, kind, count);
  await skipNumbers(session, { accountId, kind, first, count });
  return first;
}

const KINDS = new Intl.ListFormat('en-GB', { type: 'disjunction' });

function kindOf(text: string): NumberKind {
  const kind = NUMBER_KINDS.find((each) => each === text);
  if (!kind) throw new CommandError(`--kind must be ${KINDS.format(NUMBER_KINDS)}`);
  return kind;
}

function numberOf(kind: NumberKind, text: string): number {
  const number = numberIn(kind, text);
  if (number === undefined) {
    throw new CommandError(`--to must be a number of the ${kind}s such as 50 or ${documentNumber(kind, 50)}`);
  }
  return number;
}
