// What the webhook operations need besides the database.
import type { Outbound } from '#libs/outbound/outbound.ts';
import type { SecretBox } from '#libs/secret-box.ts';

export interface WebhookParts {
  outbound: Outbound;
  box: SecretBox;
  /** Wakes the relay and the poller of the webhook service; best effort. */
  nudge: () => void;
}
