// The floor of deliveries: signs and posts in a loop with the same HTTP client and agents, with no queue and no database.
import { openOutbound } from '#libs/outbound.ts';
import { makePostSigned } from '../../services/webhooks/post-signed.ts';

const { TARGETS = '', COUNT = '0', CONCURRENCY = '30', SECRET = '', BODY = '' } = process.env;
const urls = TARGETS.split(',');
const post = makePostSigned({
  outbound: openOutbound({ allow: '127.0.0.0/8', keepAlive: true }),
  timeoutMs: 15_000,
  userAgent: 'Billhook/bench',
});

let next = 0;
const loop = async () => {
  while (next < Number(COUNT)) {
    const turn = next;
    next += 1;
    const url = urls[turn % urls.length] as string;
    const { isWell, problem } = await post({ url, eventId: `floor-${turn}`, body: BODY, secrets: [SECRET] });
    if (!isWell) throw new Error(`the floor's own call failed: ${problem}`);
  }
};
await Promise.all(Array.from({ length: Number(CONCURRENCY) }, loop));
process.exit(0);
