// The commands about webhook endpoints: register one, and list its deliveries.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acrossAccounts, isId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord, deliveryView } from '#libs/models/webhooks/delivery.ts';
import { endpointView, WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { openSecretBox, type SecretBox } from '#libs/secret-box.ts';
import { registerEndpoint } from '#libs/webhooks/register-endpoint.ts';
import { requireAccount } from './accounts.ts';
import { recorded } from './audited.ts';
import { CommandError, findAddresses, type Target } from './connection.ts';
import type { Settings } from './settings.ts';
import { resealFields, resealSecrets } from './store/sealed-secrets.ts';
import { requireNote } from './texts.ts';

const SHOWN_DEFAULT = 20;
const NAMED_MAX = 5;
const PROGRESS_EVERY = 500;

export async function createEndpoint(
  options: { account: string; url: string; events: string; description?: string },
  settings: Pick<Settings, 'SECRET_KEY' | 'OUTBOUND_ALLOW'>,
  target: Target,
) {
  await requireAccount(options.account);
  const { local } = await findAddresses(target);
  const outbound = openOutbound({ allow: settings.OUTBOUND_ALLOW || (local?.outboundAllow ?? '') });
  try {
    const box = openSecretBox(settings.SECRET_KEY ?? (await keptSecretKey(target)));
    const events = options.events.split(',').map((filter) => filter.trim());
    const { url, description } = options;
    const note = description === undefined ? {} : { description: requireNote('--description', description) };
    const input = { url, events, ...note };
    const { endpoint, secret } = await recorded('webhook.create', options.account, async () => {
      const made = await registerEndpoint(options.account, input, { outbound, box });
      // The whole URL may contain a token, so only its host is recorded.
      return { ...made, detail: `${made.endpoint.id} at ${new URL(made.endpoint.url).host}` };
    });
    const { id, ...rest } = endpoint;
    return { id, secret, ...rest };
  } finally {
    outbound.close();
  }
}

export async function listEndpoints(options: { account: string }) {
  await requireAccount(options.account);
  const endpoints = await WebhookEndpoint.find({ account_id: options.account })
    .sort({ _id: 1 })
    .lean<WebhookEndpointRecord[]>();
  return endpoints.map(endpointView);
}

/** Returns the newest deliveries of an endpoint, with their last attempt. */
export async function listDeliveries(endpointId: string, options: { limit?: number }) {
  // The operator names an endpoint, not an account.
  const endpoint = isId(endpointId)
    ? await WebhookEndpoint.findOne({ _id: endpointId }).setOptions(acrossAccounts).lean<WebhookEndpointRecord>()
    : null;
  if (!endpoint) throw new CommandError(`No endpoint has the id ${endpointId}`);
  const deliveries = await Delivery.find({ account_id: endpoint.account_id, endpoint_id: endpoint._id })
    .sort({ created_at: -1, _id: -1 })
    .limit(options.limit ?? SHOWN_DEFAULT)
    .lean<DeliveryRecord[]>();
  return deliveries.map((delivery) => {
    const { id, event_id, event_type, status, attempts, next_attempt_at, created_at } = deliveryView(delivery);
    const last = attempts.at(-1);
    const answered = last ? (last.response_status ?? last.error_class) : undefined;
    return { id, event_id, event_type, status, attempts: attempts.length, last: answered, next_attempt_at, created_at };
  });
}

/** Seals all signing secrets with the first key of SECRET_KEY. @throws CommandError when none of its keys opens some secret. */
export async function resealEndpoints({ SECRET_KEY }: Pick<Settings, 'SECRET_KEY'>, target: Target) {
  const box = openSecretBox(SECRET_KEY ?? (await keptSecretKey(target)));
  const { resealed } = await recorded('webhooks.reseal', undefined, async () => {
    const done = await resealAll(box);
    return { resealed: done, detail: `${done} endpoint(s)` };
  });
  return { resealed, key: box.keyIds[0], left: 0 };
}

async function resealAll(box: SecretBox): Promise<number> {
  await resealFields(box);
  const { resealed, unreadable } = await resealSecrets(box, (done) => {
    if (done > 0 && done % PROGRESS_EVERY === 0) process.stderr.write(`${done} endpoints done …\n`);
  });
  if (unreadable.length > 0) {
    const named = unreadable.slice(0, NAMED_MAX).join(', ');
    throw new CommandError(
      `${resealed} done. SECRET_KEY lacks the key of ${unreadable.length} more, put it back at the end of the list: ${named}`,
    );
  }
  return resealed;
}

/**
 * Returns the key of a system that runs here with `npm start`, which generates one when none is set.
 * @throws CommandError when there is none, or when that system uses another key than the environment's.
 */
export async function keptSecretKey(target: Target): Promise<string> {
  const { local } = await findAddresses(target);
  const kept = local && (await readKeptKey(target.dataFolder));
  if (kept && (!local.secretKeyId || openSecretBox(kept).keyIds[0] === local.secretKeyId)) return kept;
  throw new CommandError('SECRET_KEY is not set: it must be the one the services have');
}

async function readKeptKey(dataFolder: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(dataFolder, 'secret-key.json'), 'utf8');
    return (JSON.parse(text) as { secretKey?: string }).secretKey; // deploy/local wrote the file.
  } catch {
    return undefined;
  }
}
