// The package @billhook/client: the typed client with the settings that money needs, its errors, and the verification of webhooks.
import {
  type Client,
  createClient,
  OPERATIONS,
  type OperationContext,
  type OperationId,
  type OperationPath,
  type OperationTag,
  type Ops,
} from './generated/billhook.ts';
import { isSentAgain, readingJson } from './sending.ts';

export { ApiError, type ErrorDetails } from './api-error.ts';
export type * from './generated/billhook.ts';
export { TimeoutError } from './generated/billhook.ts';
export * from './webhooks.ts';

export interface BillhookOptions {
  /** The address of the gateway, such as `https://billing.example.com`. */
  url: string | undefined;
  /** An API key, or a function that returns it for each call. */
  key: string | undefined | (() => string | Promise<string>);
  /** How often a failed call is sent again, 4 times unless given. */
  retries?: number;
  /** Milliseconds for each try, 35,000 unless given: a document may take 30 s. */
  timeout?: number;
  /** Sends the requests, for a proxy or a test. */
  fetch?: typeof fetch;
}

/** One method for each operation, by the name it has in the reference. */
export type Billhook = Client<Ops, OperationContext<OperationId, OperationPath, OperationTag>>;

/**
 * Connects to a gateway. Every POST has an idempotency key of its own, which all tries of the call share.
 *
 * @throws TypeError when `url` is no URL or `key` is missing
 */
export function billhook({ url, key, retries = 4, timeout = 35_000, fetch: send }: BillhookOptions): Billhook {
  if (!url || !URL.canParse(url)) throw new TypeError(`url must be the address of the gateway, not ${url}`);
  if (!key) throw new TypeError('key must be an API key');
  return createClient<Ops, OperationId, OperationPath, OperationTag>(OPERATIONS, {
    serverUrl: url.replace(/\/+$/, ''),
    auth: { bearer: key },
    timeout,
    idempotencyKey: true,
    retry: { retries, retryDelay: 500, retryOn: isSentAgain },
    clientHeader: false,
    fetch: readingJson(send ?? ((...call) => fetch(...call))),
  });
}
