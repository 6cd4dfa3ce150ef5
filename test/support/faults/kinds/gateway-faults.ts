// Gateways that are killed, killed in the middle of a write, or paused.

import { CRASH_POINTS, nameOf, watchedService } from '../../crashes/crash-points.ts';
import { eventually } from '../../eventually.ts';
import { anyOf, type Fault, killAgainAndAgain, pauseFor, seconds } from '../fault.ts';

export const gatewayFaults: readonly Fault[] = [
  {
    id: 'F1',
    title: 'a gateway is killed',
    spares: [],
    isShort: true,
    run: (context) => killAgainAndAgain(context, context.system.gateways, context.isShort ? 2 : 5),
  },
  {
    id: 'F2',
    title: 'a gateway dies between two steps of a write',
    spares: [],
    async run({ system, chance, isShort, say }) {
      const points = isShort ? chance.shuffled(CRASH_POINTS).slice(0, 2) : CRASH_POINTS;
      for (const point of points) {
        const victim = anyOf(system.gateways, chance);
        const starts = victim.starts();
        victim.startNextWith(watchedService(point));
        victim.signal('SIGKILL');
        // Once to watch for the step, once more because it came.
        await eventually(() => victim.starts() >= starts + 2, 120_000);
        say(`${victim.name} died ${nameOf(point)}`);
        await victim.ready();
      }
    },
  },
  {
    id: 'F3',
    title: 'a gateway is paused',
    spares: [],
    mayBeLate: true,
    async run({ system, chance, isShort, say }) {
      for (const count of isShort ? [5] : [10, 40]) {
        const victim = anyOf(system.gateways, chance);
        say(`${victim.name} is paused for ${count} s`);
        await pauseFor(victim.pid() ?? 0, count);
        await seconds(2);
      }
    },
  },
  {
    id: 'F10',
    title: 'every service is killed at once',
    spares: [],
    isShort: true,
    async run({ system, noteWebhookKill, isShort, say }) {
      for (let time = 0; time < (isShort ? 1 : 3); time += 1) {
        for (const service of system.services) {
          if (service.signal('SIGKILL') && service.service === 'webhooks') noteWebhookKill();
        }
        say('killed all services');
        await system.ready();
        await seconds(2);
      }
    },
  },
];
