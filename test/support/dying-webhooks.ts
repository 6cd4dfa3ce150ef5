// Works on one job of the webhook service, and is killed in the middle of it. Arguments: addresses, prefix, key, queue, payload.
import { openQueues } from '#libs/jobs/queue.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { makeDeliverWebhook } from '../../services/webhooks/deliver-webhook.ts';
import { makeFanOutEvent } from '../../services/webhooks/fan-out-event.ts';
import { openEventLoader } from '../../services/webhooks/loading/event-loader.ts';
import { openTraffic } from '../../services/webhooks/traffic/traffic.ts';

const [, , mongodbUri = '', redisUrl = '', prefix = '', secretKey = '', kind = '', payload = ''] = process.argv;
const log = makeLogger('webhooks', 'silent');
await connectMongo(mongodbUri, { log });
const queues = openQueues({ redisUrl, prefix, log });
await whenReady(queues.redis, 60_000);

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('it is dead');
}

const traffic = openTraffic({ scale: 1 });
const parts = { queues, traffic, events: openEventLoader() };
const work =
  kind === 'fan-out'
    ? makeFanOutEvent({ ...parts, traffic: { ...traffic, predictWait: die }, onFannedOut: () => undefined })
    : makeDeliverWebhook({
        ...parts,
        box: openSecretBox(secretKey),
        postSigned: async () => die(),
        // No attempt begins while its lease is about to run out, and a busy machine may be slow until then.
        leaseMs: 60_000,
        retryScale: 1,
        onOutcome: () => undefined,
      });
await work(JSON.parse(payload), { log, isFirstRun: false } as never);
process.exit();
