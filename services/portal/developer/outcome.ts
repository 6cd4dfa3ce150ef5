// The results of forms.
import type { Page } from './layout.ts';

/** The messages about forms. A link can name one of them, and cannot put a text on the page. */
export const MESSAGES = {
  changed: 'The endpoint is changed.',
  enabled: 'The endpoint is enabled. Deliveries that were held are sent.',
  disabled: 'The endpoint is disabled. Its deliveries are held until you enable it.',
  deleted: 'The endpoint is deleted.',
  pinged: 'A ping is on its way. Reload this page to see its response.',
  replayed: 'The delivery is sent again. Reload this page to see its response.',
} as const;
export type Message = keyof typeof MESSAGES;

/** The page to redirect to with the message about it, or a page that is shown once. */
export type Done = { to: string; message: Message } | { page: Page };

/** Returns the message that a page has in its address. */
export function messageIn(done: unknown): Message | undefined {
  return typeof done === 'string' && Object.hasOwn(MESSAGES, done) ? (done as Message) : undefined;
}
