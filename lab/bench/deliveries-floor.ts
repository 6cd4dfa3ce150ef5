// The floor of deliveries: signs and posts in a loop with the same HTTP client and agents, with no queue and no database.
import { openOutbound } from '#libs/outbound/outbound.ts';
import { makePostSigned } from '../../services/webhooks/post-signed.ts';

const { TARGETS = '', CONCURRENCY = '30', SECRET = '', BODY = '' } = process.env;
const urls = TARGETS.split(',');
const post = makePostSigned({
  outbound: openOutbound({ allow: '127.0.0.0/8', keepAlive: true }),
  timeoutMs: 15_000,
  userAgent: 'Billhook/bench',
});

/** Makes as many calls as a message asks for and reports when it is done. A failed call ends it. */
process.on('message', (count: number) => void make(count));

async function make(count: number) {
  const turns = Array.from({ length: count }, (_, turn) => turn).values();
  const loop = async () => {
    for (const turn of turns) {
      const url = urls[turn % urls.length] as string;
      const call = { url, eventId: `floor-${turn}`, body: BODY, secrets: [SECRET], isTest: false };
      const { isWell, problem } = await post(call);
      if (!isWell) throw new Error(`the floor's own call failed: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: Number(CONCURRENCY) }, loop));
  process.send?.('made');
}
