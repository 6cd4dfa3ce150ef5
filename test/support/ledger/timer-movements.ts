// Movements of timers: two owners start them now or long ago, stop them and discard them.
import type { AnyRecord } from '../crashes/billing-world.ts';
import type { LedgerWorld } from './ledger-world.ts';
import type { Movement, Request } from './movements.ts';

export const TIMER_MOVES = ['startTimer', 'stopTimer', 'discardTimer'] as const;

type TimerMovement = Omit<Movement, 'move'> & { move: (typeof TIMER_MOVES)[number] };

const OWNERS = 2;
/** Too long ago for a stop that does not say when the work ended. */
const FORGOTTEN = '2026-01-05T08:00:00.000Z';
const HOUR_MS = 3_600_000;

export async function timerRequest(
  { send, project_id }: LedgerWorld,
  { move, which, other, isOther }: TimerMovement,
): Promise<Request | undefined> {
  if (move === 'startTimer') {
    const started = isOther ? { started_at: FORGOTTEN } : {};
    const on_running = other % 3 === 0 ? 'refuse' : 'stop';
    return {
      method: 'POST',
      path: '/timers',
      body: { project_id, owner: `owner-${which % OWNERS}`, on_running, ...started },
    };
  }
  const { status, body } = await send('GET', '/timers?limit=100&sort=created_at');
  const timers = status === 200 ? (body.data as AnyRecord[]) : [];
  // The latest first: most of the others were stopped.
  const timer = timers.at(-1 - (other % Math.max(1, timers.length)));
  if (!timer) return undefined;
  const path = `/timers/${timer.id}`;
  if (move === 'discardTimer') return { method: 'DELETE', path };
  const ended_at = new Date(Date.parse(timer.started_at) + (1 + (which % 3)) * HOUR_MS).toISOString();
  return { method: 'POST', path: `${path}/stop`, body: isOther ? { ended_at } : {} };
}
