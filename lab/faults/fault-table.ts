// All faults, in the order of their numbers.
import { callerFaults } from './caller-faults.ts';
import { clockFaults } from './clock-faults.ts';
import type { Fault } from './fault.ts';
import { gatewayFaults } from './gateway-faults.ts';
import { machineFaults } from './machine-faults.ts';
import { mongodbFaults } from './mongodb-faults.ts';
import { redisFaults } from './redis-faults.ts';
import { rendererFaults } from './renderer-faults.ts';
import { webhookFaults } from './webhook-faults.ts';

export const faults: readonly Fault[] = [
  ...gatewayFaults,
  ...rendererFaults,
  ...webhookFaults,
  ...redisFaults,
  ...mongodbFaults,
  ...callerFaults,
  ...machineFaults,
  ...clockFaults,
].toSorted((one, other) => Number(one.id.slice(1)) - Number(other.id.slice(1)));
