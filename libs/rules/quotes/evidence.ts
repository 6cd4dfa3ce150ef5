// The statement about an acceptance that is signed as evidence, and the canonical JSON of what it is about.
import { hash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';

/** Names the form of the statement. Another form gets another name. */
const EVIDENCE_TYPE = 'billhook.quote-acceptance.v1';

export interface AcceptedByClient {
  quote: { id: string; number: string };
  account: { id: string; name: string };
  client_id: string;
  /** The link by which the client came. */
  link_id: string;
  accepted_at: Date;
  /** The name that was typed. */
  name: string;
  /** The sentence that was agreed to, in the language of the page. */
  agreement: string;
  /** The client's own order number. */
  order_number?: string | undefined;
  /** The address from which the form came. */
  address: string;
  /** The header `User-Agent` of the form. */
  browser: string;
  /** The canonical JSON of the quote as it was shown. */
  content: string;
  /** The SHA-256 of the original PDF, in hex. Absent when none could be kept. */
  pdf_sha256?: string | undefined;
  /** The signature that was drawn, a PNG. */
  drawn?: Buffer | undefined;
}

/** Returns the statement as canonical JSON: exactly these bytes are signed. */
export function statementOf({
  content,
  drawn,
  accepted_at,
  pdf_sha256,
  order_number,
  ...given
}: AcceptedByClient): string {
  return canonicalJson({
    ...given,
    type: EVIDENCE_TYPE,
    accepted_at: accepted_at.toISOString(),
    order_number: order_number ?? null,
    quote_sha256: hash('sha256', content),
    pdf_sha256: pdf_sha256 ?? null,
    drawn_signature_sha256: drawn ? hash('sha256', drawn) : null,
  });
}

/** Returns JSON without blanks and with sorted names (RFC 8785), so that equal values have the same bytes. */
function canonicalJson(value: object): string {
  return String(stringify(value));
}

/** The fields of a quote that change after it was shown, or that say nothing about what is offered. */
const NOT_OFFERED = [
  'status',
  'invoices',
  'left_to_bill',
  'converted_at',
  'acceptance',
  'decline',
  'delivery',
  'amount_paid',
  'amount_due',
  'due_date',
  'created_at',
  'updated_at',
] as const;

/** Returns the canonical JSON of what a quote offers. @param view the quote in the form of the API. */
export function offeredContent(view: Readonly<Record<string, unknown>>): string {
  const names: readonly string[] = NOT_OFFERED;
  return canonicalJson(Object.fromEntries(Object.entries(view).filter(([name]) => !names.includes(name))));
}
