// All faults, in the order of their numbers.

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

export const faults: readonly Fault[] = [
  ...gatewayFaults,
  ...rendererFaults,
  ...webhookFaults,
  ...redisFaults,
  ...mongodbFaults,
  ...callerFaults,
  ...machineFaults,
  ...clockFaults,
  ...pairsOfFaults,
].toSorted((one, other) => Number(one.id.slice(1)) - Number(other.id.slice(1)));
