// Clocks that are an hour wrong for a while: leases, due times, deadlines and signatures must not follow them.
import { anyOf, type Fault, seconds } from '../fault.ts';
import type { FaultSystem } from '../system/fault-system.ts';

const BOTH = ['records', 'documents'] as const;
const HOUR_MS = 3_600_000;

type Kind = 'gateways' | 'renderers' | 'webhooks';
const NAMES: Record<Kind, string> = { gateways: 'gateway', renderers: 'renderer', webhooks: 'webhook service' };

function clockFault(kind: Kind, direction: 'ahead' | 'behind', changes: Partial<Fault> = {}): Fault {
  return {
    id: 'F32',
    title: `the clock of a ${NAMES[kind]} is an hour ${direction}, and then right again`,
    spares: BOTH,
    ...changes,
    async run({ system, chance, say, isShort }) {
      const one = anyOf((system as Pick<FaultSystem, Kind>)[kind], chance);
      await one.setClock(direction === 'ahead' ? HOUR_MS : -HOUR_MS);
      say(`the clock of ${one.name} is an hour ${direction}`);
      try {
        await seconds(isShort ? 6 : 20);
      } finally {
        await one.setClock(0);
      }
    },
  };
}

export const clockFaults: readonly Fault[] = [
  clockFault('gateways', 'ahead'),
  clockFault('gateways', 'behind'),
  clockFault('renderers', 'ahead'),
  clockFault('renderers', 'behind'),
  clockFault('webhooks', 'ahead', { isShort: true }),
  clockFault('webhooks', 'behind'),
];
