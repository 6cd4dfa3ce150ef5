// The state machine of a delivery: what the table promises, what its moves write, and that nothing else writes deliveries.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { newId, storedId } from '#libs/models/tenant.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '#libs/models/webhooks/delivery.ts';
import { changeOf, changeOfMany, guardOf, type MoveValues, newDelivery } from '#libs/models/webhooks/delivery-moves.ts';
import {
  DELIVERY_MOVES,
  DELIVERY_STATES,
  type DeliveryMove,
  type Move,
  STATE_FIELDS,
} from '#libs/models/webhooks/delivery-states.ts';

const now = new Date('2026-11-26T12:00:00Z');
const later = new Date('2026-11-26T13:00:00Z');
const moves = Object.entries(DELIVERY_MOVES) as [DeliveryMove, Move][];

/** The values that every move into a state must have, and no others. */
const VALUES: Record<DeliveryStatus, MoveValues> = {
  pending: { nextAt: later, dueAt: later, deferrals: 0 },
  delivered: { settledAt: now, updatedAt: now },
  dead: { settledAt: now, updatedAt: now },
  held: { updatedAt: now },
};

describe('the table', () => {
  test('when the states are listed, then each has its row, and each can be reached', () => {
    expect(Object.keys(DELIVERY_STATES)).toEqual([...DELIVERY_STATUSES]);
    expect(new Set(moves.map(([, { to }]) => to))).toEqual(new Set(DELIVERY_STATUSES));
  });

  test('when a delivery is not pending, then it has no lease and is never due', () => {
    for (const status of ['delivered', 'dead', 'held'] as const)
      expect(DELIVERY_STATES[status].keeps.filter((field) => field !== 'settled_at')).toEqual([]);
  });

  test('when a delivery is delivered or dead, then only a replay sends it again', () => {
    const reviving = moves.filter(([, { from, to }]) => to === 'pending' && /delivered|dead/.test(from.join()));
    expect(new Set(reviving.map(([, { by }]) => by))).toEqual(new Set(['caller or operator']));
  });

  test('when a worker has a lease, then every move of another actor checks it, or that nothing has changed', () => {
    const open = moves.filter(
      ([, { by, from, guards }]) =>
        by !== 'worker' && from.includes('pending') && !guards.includes('isFree') && !guards.includes('isAsRead'),
    );
    expect(open).toEqual([]);
  });

  test('when a worker ends an attempt, then it must own the lease', () => {
    const ending = moves.filter(([, { by, lease }]) => by === 'worker' && lease === 'ends');
    expect(ending.map(([name]) => name)).toEqual(['deliver', 'retryLater', 'giveUp', 'defer', 'suspendLeased']);
    for (const [, { guards }] of ending) expect(guards).toContain('ownsLease');
  });

  test('when a move ends a lease, then no job of the revision before runs again', () => {
    expect(moves.filter(([, { lease, raisesRevision }]) => lease === 'ends' && !raisesRevision)).toEqual([]);
  });
});

/** A record as the update leaves it, as far as state goes. */
function applied(record: Record<string, unknown>, { $set, $unset = {}, $inc }: ReturnType<typeof changeOf>) {
  const kept = Object.entries({ ...record, ...$set }).filter(([field]) => !(field in $unset));
  return { ...Object.fromEntries(kept), revision: Number(record['revision']) + ($inc?.revision ?? 0) };
}

describe.each(moves.filter(([, { from }]) => from.length > 0))(
  'the move %s',
  (name, { from, to, lease, raisesRevision }) => {
    test.each(from)(
      'when it is made from %s, then the record has the status and the fields of its new state alone',
      (status) => {
        const fields = Object.fromEntries(DELIVERY_STATES[status].keeps.map((field) => [field, 'before']));
        const after = applied({ status, revision: 4, ...fields }, changeOf(name, VALUES[to]));

        expect(after).toMatchObject({ status: to, revision: raisesRevision ? 5 : 4 });
        const kept = STATE_FIELDS.filter((field) => field in after);
        expect(kept.filter((field) => !DELIVERY_STATES[to].keeps.includes(field))).toEqual([]);
        if (lease === 'ends') expect(kept).not.toContain('lease_id');
        if (lease === 'keeps' && status === 'pending') expect(kept).toContain('lease_id');
      },
    );
  },
);

describe('what a move writes', () => {
  test('when a worker delivers, then the filter names its lease, and the update the outcome', () => {
    expect(guardOf('deliver', { leaseId: 'mine' })).toEqual({ status: 'pending', lease_id: 'mine' });
    const attempt = { at: now, duration_ms: 12, response_status: 204 };
    expect(changeOf('deliver', { settledAt: now, updatedAt: now, deferrals: 0, attempt })).toEqual({
      $set: { status: 'delivered', settled_at: now, updated_at: now, deferrals: 0 },
      $unset: { next_at: 1, due_at: 1, lease_id: 1, lease_until: 1 },
      $inc: { revision: 1, attempts_made: 1 },
      $push: { attempts: { $each: [attempt], $slice: -25 } },
    });
  });

  test('when many are delivered with one update, then it removes and sets the same', () => {
    const values = { settledAt: now, updatedAt: now, deferrals: 0 };
    const [{ $set: set }, { $unset: unset }] = changeOfMany('deliver', values, {}) as [
      { $set: object },
      { $unset: string[] },
    ];
    const one = changeOf('deliver', values);
    expect(set).toMatchObject(one.$set);
    expect([...unset].sort()).toEqual(Object.keys(one.$unset ?? {}).sort());
  });

  test('when a worker acquires, then the filter matches a free delivery and one that is reserved for the job', () => {
    expect(guardOf('acquire', { now, reservations: [{ leaseId: 'reserved', until: later }] })).toEqual({
      status: 'pending',
      next_at: { $lte: now },
      $or: [{ lease_until: null }, { lease_until: { $lte: now } }, { lease_id: 'reserved', lease_until: later }],
    });
    expect(changeOf('acquire', { leaseId: 'mine', leaseUntil: later })).toEqual({
      $set: { lease_id: 'mine', lease_until: later },
    });
  });

  test('when the poller moves a delivery, then only if it is unchanged since it was read', () => {
    expect(guardOf('enqueue', { revision: 3, dueAt: now })).toEqual({ status: 'pending', revision: 3, due_at: now });
    expect(changeOf('enqueue', { dueAt: later })).toEqual({ $set: { due_at: later } });
    expect(changeOf('enqueueAgain', { dueAt: later })).toEqual({ $set: { due_at: later }, $inc: { revision: 1 } });
  });

  test('when a value does not belong to the new state, or the time it ended is missing, then it is an error', () => {
    expect(() => changeOf('deliver', { settledAt: now, nextAt: later })).toThrow('the move deliver cannot set next_at');
    expect(() => changeOf('suspend', { settledAt: now })).toThrow('the move suspend cannot set settled_at');
    expect(() => changeOf('retryLater', { leaseId: 'mine' })).toThrow('the move retryLater cannot set lease_id');
    expect(() => changeOf('giveUp', {})).toThrow('the move giveUp needs the time it was settled');
  });

  test('when a delivery is made, then it is pending and has the fields of that state', () => {
    const event = { _id: storedId(newId()), account_id: storedId(newId()), type: 'client.created' };
    const reservation = { leaseId: 'reserved', until: later };
    const made = newDelivery(event, storedId(newId()), now, { dueAt: later, reservation });
    expect(made).toMatchObject({ status: 'pending', revision: 0, deferrals: 0, attempts_made: 0, attempts: [] });
    expect(made).toMatchObject({ next_at: now, due_at: later, lease_id: 'reserved', lease_until: later });
    expect(newDelivery(event, storedId(newId()), now)).not.toHaveProperty('lease_id');
  });
});

describe('the source', () => {
  const MOVES = 'libs/models/webhooks/delivery-moves.ts';
  const WRITES =
    /\.(?:update(?:One|Many)|replaceOne|findOneAnd\w+|findByIdAnd\w+|bulkWrite|insert(?:One|Many)|create|save|delete(?:One|Many))\(/;
  const OPERATORS = /\$(?:set|unset|inc|push|pull|min|max|mul|rename|setOnInsert|addFields|replaceWith|currentDate)\b/;

  const sources = new Map(
    ['services', 'libs', 'deploy'].flatMap((root) =>
      readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => [join(root, name), readFileSync(join(root, name), 'utf8')] as const),
    ),
  );
  /** True for the model itself, not for its types. */
  const importsModel = (source: string) =>
    /import \{(?:[^}]*[\s,])?Delivery\b[^}]*\}\s*from '[^']*\/delivery\.ts'/.test(source);
  const writers = [...sources].filter(([, source]) => importsModel(source) && WRITES.test(source));

  test('when the files that write deliveries are counted, then they are these', () => {
    expect(writers.map(([file]) => file).sort()).toEqual([
      'libs/models/webhooks/endpoint-deliveries.ts',
      'libs/models/webhooks/replay-deliveries.ts',
      'services/webhooks/store/delivery-leases.ts',
      'services/webhooks/store/delivery-settlement.ts',
      'services/webhooks/store/due-deliveries.ts',
      'services/webhooks/store/new-deliveries.ts',
    ]);
  });

  test.each(writers)('when %s writes a delivery, then the table of moves makes its updates', (_file, source) => {
    expect(source).toContain("/delivery-moves.ts'");
    expect(OPERATORS.exec(source)?.[0]).toBeUndefined();
    // A new record, too.
    if (/\.(?:insert(?:One|Many)|create)\(/.test(source)) expect(source).toContain('...newDelivery(');
  });

  test('when another file could reach the collection, then it is found: by its name, or by a second model', () => {
    const byName = [...sources].filter(([, source]) => /'deliveries'/.test(source) && /collection/.test(source));
    expect(byName.map(([file]) => file)).toEqual(['libs/models/webhooks/delivery.ts']);
  });

  test('when a file sets the state of a delivery directly, then this scan finds it', () => {
    const byHand =
      "import { Delivery } from './delivery.ts';\nawait Delivery.updateOne({}, { $set: { status: 'dead' } });";
    expect([importsModel(byHand), WRITES.test(byHand), OPERATORS.test(byHand)]).toEqual([true, true, true]);
    expect(
      importsModel("import { type Attempt, Delivery, deliveryId } from '#libs/models/webhooks/delivery.ts';"),
    ).toBe(true);
    expect(importsModel("import type { DeliveryRecord } from '#libs/models/webhooks/delivery.ts';")).toBe(false);
    expect(sources.get(MOVES)).toMatch(OPERATORS);
  });
});
