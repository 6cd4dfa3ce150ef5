// Two faults at the same time, in different parts of the system.
import type { Fault } from '../fault.ts';
import { mongodbFaults } from './mongodb-faults.ts';
import { redisFaults } from './redis-faults.ts';
import { rendererFaults } from './renderer-faults.ts';
import { webhookFaults } from './webhook-faults.ts';

export const pairsOfFaults: readonly Fault[] = [
  bothOf(mongodbFaults, 'F20', redisFaults, 'F11'),
  bothOf(mongodbFaults, 'F21', webhookFaults, 'F9'),
  bothOf(redisFaults, 'F13', rendererFaults, 'F5'),
];

function bothOf(table: readonly Fault[], id: string, otherTable: readonly Fault[], otherId: string): Fault {
  const [one, other] = [table.find((fault) => fault.id === id), otherTable.find((fault) => fault.id === otherId)];
  if (!one || !other) throw new Error(`there is no fault ${id} or ${otherId}`);
  return {
    id: 'F35',
    title: `at once: ${one.title}; ${other.title}`,
    spares: [],
    isMongodb: one.isMongodb === true || other.isMongodb === true,
    isShort: one.isMongodb === true && otherTable === redisFaults,
    async run(context) {
      // One that fails must not leave the other running.
      const ended = await Promise.allSettled([one.run(context), other.run(context)]);
      for (const result of ended) if (result.status === 'rejected') throw result.reason;
    },
  };
}
