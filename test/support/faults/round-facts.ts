// Facts of a round that its oracles need.

import type { Journal } from './journal.ts';
import type { MarkedAccount } from './load/accounts.ts';
import type { Load } from './load/load.ts';
import type { FaultSystem } from './system/fault-system.ts';

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
