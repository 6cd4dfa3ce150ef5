// Gives an endpoint a new signing secret.
import type { UnitOfWork } from '../billing/unit-of-work.ts';
import { makeSecret, rotated } from '../models/webhooks/endpoint-secrets.ts';
import type { WebhookEndpointRecord } from '../models/webhooks/webhook-endpoint.ts';
import type { SecretBox } from '../secret-box.ts';
import { type NamedEndpoint, requireEndpoint, updateEndpoint } from './own-endpoint.ts';

/**
 * Replaces the secret. The old one keeps signing beside it for a day.
 * @returns the endpoint, and the new secret, which is shown once.
 * @throws AppError 404.
 */
export async function rotateSecret(
  { session, accountId }: UnitOfWork,
  named: NamedEndpoint,
  box: SecretBox,
): Promise<{ endpoint: WebhookEndpointRecord; secret: string }> {
  const endpoint = await requireEndpoint({ accountId, session }, named);
  const secret = makeSecret();
  const changes = { ...rotated(endpoint, box.seal(secret)), updated_at: new Date() };
  return { endpoint: await updateEndpoint(endpoint, { $set: changes }, session), secret };
}
