// All faults, by the part of the system that they break.
import type { Fault } from './fault.ts';
import { callerFaults } from './kinds/caller-faults.ts';
import { clockFaults } from './kinds/clock-faults.ts';
import { gatewayFaults } from './kinds/gateway-faults.ts';
import { machineFaults } from './kinds/machine-faults.ts';
import { mongodbFaults } from './kinds/mongodb-faults.ts';
import { redisFaults } from './kinds/redis-faults.ts';
import { rendererFaults } from './kinds/renderer-faults.ts';
import { pairsOfFaults } from './kinds/two-at-once.ts';
import { webhookFaults } from './kinds/webhook-faults.ts';

/** The faults of one part of the system. */
interface Part {
  part: string;
  faults: readonly Fault[];
}

const parts: readonly Part[] = [
  { part: 'gateways and renderers', faults: [...gatewayFaults, ...rendererFaults] },
  { part: 'webhook services and clocks', faults: [...webhookFaults, ...clockFaults] },
  { part: 'Redis', faults: redisFaults },
  { part: 'MongoDB', faults: [...mongodbFaults, ...pairsOfFaults] },
  { part: 'callers, receivers and the machine', faults: [...callerFaults, ...machineFaults] },
];

/** Sorted by their numbers. */
export const faults: readonly Fault[] = parts
  .flatMap((part) => part.faults)
  .toSorted((one, other) => Number(one.id.slice(1)) - Number(other.id.slice(1)));

/** The rounds of the tests: the faults of the short form, those of one part in one round. */
export const shortRounds: readonly Part[] = parts.map(({ part, faults: own }) => ({
  part,
  faults: own.filter(({ isShort }) => isShort),
}));
