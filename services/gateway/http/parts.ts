// The services that handlers use besides the database. main.ts opens them once, and every handler gets them as `context.parts`.
import type { Markdown } from '#libs/markdown/markdown.ts';
import type { EventType } from '#libs/models/webhooks/event-types.ts';
import type { Outbound } from '#libs/outbound/outbound.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import type { SecretBox } from '#libs/secret-box.ts';

export interface GatewayParts {
  /** The way to the renderers. */
  print: PrintDocument;
  /** Lays out the texts of mails. */
  markdown: Pick<Markdown, 'toHtml'>;
  /** The guard for calls to addresses that callers name. */
  outbound: Outbound;
  /** Seals the secrets that are stored. */
  box: SecretBox;
  /** Wakes the relay after a commit that wrote events; best effort, the relay also polls. */
  nudge: () => void;
  /** The address with which links to the portal begin. Undefined when the portal is not set up. */
  portalUrl?: string | undefined;
  /** Bytes that an account may keep; any amount unless given. */
  quotas?: Quotas;
  /** Every type of event, see libs/responses/event-catalogue.ts. */
  eventCatalogue: () => readonly EventTypeEntry[];
}

interface Quotas {
  /** Bytes of records and events. */
  records?: number | undefined;
  /** Bytes of the files of batches. */
  files?: number | undefined;
}

interface EventTypeEntry {
  type: EventType;
  description: string;
  /** A body as webhooks carry it. */
  example: object;
  /** JSON Schema of the body. */
  schema: object;
}
