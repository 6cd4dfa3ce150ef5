// What an oracle needs to know of a round.
import type { MarkedAccount } from './accounts.ts';
import type { FaultSystem } from './fault-system.ts';
import type { Journal } from './journal.ts';
import type { Load } from './load.ts';

export interface RoundFacts {
  system: FaultSystem;
  accounts: readonly MarkedAccount[];
  load: Load;
  journal: Journal;
  /** How often a process that was sending webhooks was killed or paused: each may send its attempts in flight twice. */
  webhookKills: number;
  /** The database was unavailable: attempts could not be recorded, so they are made again. */
  mayForgetAttempts: boolean;
}
