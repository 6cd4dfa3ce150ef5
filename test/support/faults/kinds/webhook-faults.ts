// Webhook services that are killed: at random, while a call is in flight, and right after the response.
import { anyOf, type Fault, type FaultContext, killAgainAndAgain, pauseFor, seconds } from '../fault.ts';

const BOTH = ['records', 'documents'] as const;

export const webhookFaults: readonly Fault[] = [
  {
    id: 'F9',
    title: 'a webhook service is killed: at random, in a call, right after an answer',
    spares: BOTH,
    isShort: true,
    async run(context) {
      const { system, isShort, noteWebhookKill } = context;
      await killAgainAndAgain(context, system.webhooks, isShort ? 1 : 5, noteWebhookKill);
      for (const when of ['before', 'after', ...(isShort ? [] : ['before', 'after', 'after'])] as const) {
        await killAtACall(context, when as 'before' | 'after');
      }
    },
  },
  {
    id: 'F9',
    title: 'both webhook services are paused for longer than their leases',
    spares: BOTH,
    async run({ system, isShort, noteWebhookKill, say }) {
      system.webhooks.forEach(noteWebhookKill);
      say('both webhook services are paused');
      await Promise.all(system.webhooks.map(({ pid }) => pauseFor(pid() ?? 0, isShort ? 6 : 25)));
    },
  },
];

/** Kills both workers at a call. The test cannot know which of them makes it, and the call must be cut in the middle. */
async function killAtACall({ system, load, say, noteWebhookKill, chance }: FaultContext, when: 'before' | 'after') {
  const reached = Promise.withResolvers<void>();
  system.town.onNextCall(when, () => {
    for (const service of system.webhooks) if (service.signal('SIGKILL')) noteWebhookKill();
    reached.resolve();
  });
  await load.records.createClient();
  await Promise.race([reached.promise, seconds(30)]);
  say(`killed the webhook services ${when === 'before' ? 'in the middle of' : 'right after'} a call`);
  await anyOf(system.webhooks, chance).ready();
  await Promise.all(system.webhooks.map((service) => service.ready()));
}
