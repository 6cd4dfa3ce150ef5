// The state machine of a message and its recipients: what the table promises, what its moves write, and that nothing else writes messages.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  deliveryStateOf,
  MESSAGE_STATES,
  type MessageState,
  RECIPIENT_STATES,
  type Recipient,
  type RecipientState,
} from '#libs/models/messages/message.ts';
import {
  canMove,
  isFollowing,
  type MessageMoveValues,
  messageChange,
  messageGuard,
  newMessageState,
  recipientChange,
} from '#libs/models/messages/message-moves.ts';
import {
  FOLLOWING,
  MESSAGE_MOVES,
  MESSAGE_STATE_FIELDS,
  MESSAGE_STATE_TABLE,
  type MessageMove,
  type MessageMoveRow,
  RECIPIENT_MOVES,
} from '#libs/models/messages/message-states.ts';

const now = new Date('2026-11-26T12:00:00Z');
const later = new Date('2026-11-26T13:00:00Z');
const moves = Object.entries(MESSAGE_MOVES) as [MessageMove, MessageMoveRow][];
const ENDED: readonly MessageState[] = ['accepted', 'failed', 'cancelled'];

const recipient = (state: RecipientState, fields: Partial<Recipient> = {}): Recipient => ({
  address: 'ada@example.com',
  role: 'to',
  state,
  ...fields,
});

/** The values that a move into the state must have. */
function valuesFor(to: MessageMoveRow['to']): MessageMoveValues {
  if (to === 'same') return { dueAt: later };
  return ENDED.includes(to) ? { settledAt: now, updatedAt: now } : { dueAt: later, updatedAt: now };
}

describe('the table', () => {
  test('when the states are listed, then each has its row, and each can be reached', () => {
    expect(Object.keys(MESSAGE_STATE_TABLE)).toEqual([...MESSAGE_STATES]);
    expect(new Set(moves.map(([, { to }]) => to).filter((to) => to !== 'same'))).toEqual(new Set(MESSAGE_STATES));
    const reached = [...moves.map(([, { to }]) => to), ...Object.values(RECIPIENT_MOVES).map(({ to }) => to)];
    expect(RECIPIENT_STATES.filter((state) => !reached.includes(state))).toEqual([]);
  });

  test('when a message was accepted, failed or cancelled, then no move sends it again', () => {
    expect(moves.filter(([, { from }]) => from.some((state) => ENDED.includes(state)))).toEqual([]);
    for (const state of ENDED) expect(MESSAGE_STATE_TABLE[state].keeps).toEqual(['settled_at']);
  });

  test('when the contents may have left, then one more try is all there is', () => {
    const lost = moves.filter(([, { from, to }]) => from.includes('sending') && to === 'unknown');
    expect(lost.map(([name]) => name)).toEqual(['lose', 'loseAbandoned']);
    for (const [, { guards }] of lost) expect(guards).toContain('isFirstDoubt');
  });

  test('when a message is being sent, then only its worker moves it, or a round after its lease', () => {
    const ending = moves.filter(([, { from, to }]) => from.includes('sending') && to !== 'same');
    const others = ending.filter(([, { guards }]) => !guards.includes('ownsLease'));
    expect(others.map(([name, { guards }]) => [name, guards.includes('isFree')])).toEqual([
      ['loseAbandoned', true],
      ['loseAbandonedAgain', true],
    ]);
  });

  test('when a caller cancels, then not what a worker has', () => {
    expect(MESSAGE_MOVES.cancel.guards).toEqual(['isFree']);
    expect(MESSAGE_MOVES.cancel.from).toEqual(['planned', 'queued']);
  });

  test('when a recipient has its own end, then it does not follow its message any more', () => {
    const own = Object.values(RECIPIENT_MOVES).map(({ to }) => to);
    expect(own.filter((state) => (FOLLOWING as readonly string[]).includes(state))).toEqual([]);
    expect(RECIPIENT_STATES.filter((state) => isFollowing({ state }))).toEqual([...FOLLOWING]);
  });
});

describe.each(moves.filter(([, { from }]) => from.length > 0))('the move %s', (name, { from, to, lease }) => {
  test.each(from)(
    'when it is made from %s, then the record has the fields of its new state alone, and its recipients follow',
    (state) => {
      const before = Object.fromEntries(MESSAGE_STATE_TABLE[state].keeps.map((field) => [field, 'before']));
      const change = messageChange(name, valuesFor(to), [recipient(state), recipient('bounced')]);
      const after: Record<string, unknown> = { ...before, state, ...change.$set };
      for (const field of Object.keys(change.$unset ?? {})) delete after[field];

      const reached = to === 'same' ? state : to;
      expect(after['state']).toBe(reached);
      const kept = MESSAGE_STATE_FIELDS.filter((field) => field in after);
      expect(kept.filter((field) => !MESSAGE_STATE_TABLE[reached].keeps.includes(field))).toEqual([]);
      if (lease === 'ends') expect(kept).not.toContain('lease_id');
      expect(after['recipients.0.state'] ?? state).toBe(reached);
      expect(after).not.toHaveProperty('recipients.1.state');
    },
  );
});

describe('what a move writes', () => {
  test('when the relay takes it for one and rejects another, then each has its own end', () => {
    expect(messageGuard('accept', { leaseId: 'mine' })).toEqual({ state: 'sending', lease_id: 'mine' });
    const attempt = { at: now, code: '250', text: 'queued as 7' };
    const outcomes = [{ index: 1, move: 'refuse', code: '550 5.1.1', text: 'no such user', at: now }] as const;
    const values = { settledAt: now, acceptedAt: now, updatedAt: now, attempt };
    expect(messageChange('accept', values, [recipient('sending'), recipient('sending')], outcomes)).toEqual({
      $set: {
        state: 'accepted',
        settled_at: now,
        accepted_at: now,
        updated_at: now,
        'recipients.0.state': 'accepted',
        'recipients.0.at': now,
        'recipients.1.state': 'failed',
        'recipients.1.at': now,
        'recipients.1.code': '550 5.1.1',
        'recipients.1.text': 'no such user',
      },
      $unset: { next_at: 1, due_at: 1, lease_id: 1, lease_until: 1 },
      $inc: { revision: 1, attempts_made: 1 },
      $push: { attempts: { $each: [attempt], $slice: -30 } },
    });
  });

  test('when some were taken and others are deferred, then those that were taken are not tried again', () => {
    const outcomes = [{ index: 0, move: 'accept', code: '250', at: now }] as const;
    const change = messageChange(
      'retryLater',
      { nextAt: later, dueAt: later },
      [recipient('sending'), recipient('sending')],
      outcomes,
    );
    expect(change.$set).toMatchObject({
      state: 'queued',
      'recipients.0.state': 'accepted',
      'recipients.1.state': 'queued',
    });
  });

  test('when a worker takes a message, then the filter matches a due one without a lease', () => {
    expect(messageGuard('acquire', { now })).toEqual({
      state: { $in: ['planned', 'queued'] },
      next_at: { $lte: now },
      $or: [{ lease_until: null }, { lease_until: { $lte: now } }],
    });
    expect(messageGuard('loseAbandoned', { now })).toMatchObject({ state: 'sending', unknown_at: null });
  });

  test('when a value or an outcome does not belong to the state, then it is an error', () => {
    expect(() => messageChange('accept', { settledAt: now, nextAt: later }, [])).toThrow(
      'the move accept cannot set next_at',
    );
    expect(() => messageChange('giveUp', {}, [])).toThrow('the move giveUp needs the time it was settled');
    const bounced = [{ index: 0, move: 'accept', at: now }] as const;
    expect(() => messageChange('acceptRest', { settledAt: now }, [recipient('bounced')], bounced)).toThrow(
      'recipient 0 is bounced and cannot accept',
    );
  });

  test('when a delivery report comes twice, then the second cannot be counted', () => {
    expect(canMove(recipient('accepted'), 'bounce')).toBe(true);
    expect(canMove(recipient('bounced'), 'bounce')).toBe(false);
    expect(canMove(recipient('bounced'), 'complain')).toBe(true);
    const report = { index: 0, move: 'bounce', code: '550', text: 'gone', at: now } as const;
    expect(recipientChange([recipient('accepted')], report, later).$set).toMatchObject({
      'recipients.0.state': 'bounced',
    });
  });

  test('when a message is made, then it has the fields of its state', () => {
    expect(newMessageState('plan', later)).toMatchObject({
      state: 'planned',
      next_at: later,
      due_at: later,
      revision: 0,
    });
    expect(newMessageState('queue', now)).toMatchObject({ state: 'queued', attempts: [], attachments: [] });
  });

  test('when one of several recipients bounced, then the document shows that, else the state of the message', () => {
    expect(deliveryStateOf({ state: 'accepted', recipients: [recipient('accepted'), recipient('bounced')] })).toBe(
      'bounced',
    );
    expect(deliveryStateOf({ state: 'accepted', recipients: [recipient('complained'), recipient('bounced')] })).toBe(
      'complained',
    );
    expect(deliveryStateOf({ state: 'failed', recipients: [recipient('failed')] })).toBe('failed');
  });
});

describe('the source', () => {
  const WRITES =
    /\bMessage\)?\s*\.(?:update(?:One|Many)|replaceOne|findOneAnd\w+|bulkWrite|insert(?:One|Many)|create)\(|insertOwn\(Message\b/;

  test('when a file writes messages, then the table of moves makes the state', () => {
    const writers = ['services', 'libs']
      .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)))
      .filter((name) => name.endsWith('.ts') && WRITES.test(readFileSync(name, 'utf8')));
    expect(writers).toContain('libs/billing/messages/move-message.ts');
    const byHand = writers.filter((file) => !readFileSync(file, 'utf8').includes("/message-moves.ts'"));
    // They change no state.
    expect(byHand.toSorted()).toEqual([
      'libs/billing/messages/set-recipients.ts',
      'libs/billing/messages/withdraw-message.ts',
    ]);
  });
});
