// The shape of a fault: its name, its effect, the parts that must not notice it, and the cost that it may have.
import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../chance.ts';
import type { Journal, Kind } from './journal.ts';
import type { MarkedAccount } from './load/accounts.ts';
import type { Load } from './load/load.ts';
import type { FaultSystem } from './system/fault-system.ts';
import type { KeptService } from './system/kept-service.ts';

export interface Fault {
  /** Such as F11; several variants share one. */
  id: string;
  title: string;
  /** Calls of these kinds succeed all the time: their callers notice nothing. */
  spares: readonly Kind[];
  /** The database may be without a primary, so records may be refused. */
  isMongodb?: boolean;
  /** A gateway is paused, so its answers may be late. */
  mayBeLate?: boolean;
  /** Part of the short form. */
  isShort?: boolean;
  /** Breaks something and puts it right again, or leaves it to the system to do so. */
  run(context: FaultContext): Promise<void>;
}

export interface FaultContext {
  system: FaultSystem;
  load: Load;
  accounts: readonly MarkedAccount[];
  journal: Journal;
  chance: Chance;
  /** Everything once and for a short time. */
  isShort: boolean;
  /** For the report. */
  say(text: string): void;
  /** A process that sends webhooks was killed or paused: its attempts in flight may arrive twice. */
  noteWebhookKill(): void;
}

export const seconds = (count: number) => pause(count * 1_000);

/** A running one of these. */
export function anyOf(services: readonly KeptService[], chance: Chance): KeptService {
  const running = services.filter(({ pid }) => pid() !== undefined);
  return chance.pick(running.length > 0 ? running : services);
}

/** Kills a running one of these, `times` times, and waits each time until it is back. */
export async function killAgainAndAgain(
  { chance, say }: FaultContext,
  services: readonly KeptService[],
  times: number,
  onKill: () => void = () => undefined,
): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await seconds(0.2 + 1.5 * chance.next());
    const victim = anyOf(services, chance);
    if (victim.signal('SIGKILL')) onKill();
    say(`killed ${victim.name}`);
    await victim.ready();
  }
}

/** Pauses a process and lets it go on, whatever happens meanwhile. */
export async function pauseFor(pid: number, count: number): Promise<void> {
  send(pid, 'SIGSTOP');
  try {
    await seconds(count);
  } finally {
    send(pid, 'SIGCONT');
  }
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
