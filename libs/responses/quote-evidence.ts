// Response shape of the evidence that a client accepted a quote.
import Joi from 'joi';
import type { quoteEvidenceView } from '../models/answers/quote-evidence.ts';
import { exampleId } from './example-ids.ts';
import { exampleTime, id, orNull, timestamp, words } from './response-fields.ts';

const sha256 = () => Joi.string().pattern(/^[0-9a-f]{64}$/);

export const quoteEvidenceResponse = Joi.object<ReturnType<typeof quoteEvidenceView>, true>({
  id: id(),
  quote: Joi.object({ id: id(), quote_number: words() })
    .required()
    .meta({ schema: 'AcceptedQuote' })
    .description('The quote that was accepted'),
  kind: Joi.string()
    .valid('simple_electronic_signature')
    .required()
    .description('By Regulation (EU) 910/2014: not an advanced and not a qualified signature'),
  accepted_at: timestamp(),
  name: words().description('The name that was typed'),
  agreement: words().description('The sentence that was agreed to, in the language of the page'),
  order_number: orNull(Joi.string()).description("The client's own order number"),
  address: words().description('The network address of the browser'),
  browser: words().description('The header `User-Agent` of the browser'),
  link_id: id().description('The link by which the client came'),
  quote_sha256: sha256().required().description('SHA-256 of `quote_json`'),
  pdf_sha256: orNull(sha256()).description('SHA-256 of the original PDF; null when none could be kept'),
  drawn_signature_sha256: orNull(sha256()).description('SHA-256 of the bytes of `drawn_signature`'),
  statement: words().description('Canonical JSON (RFC 8785) of all of this: the bytes that are signed'),
  signature: words().description('Ed25519 signature of the UTF-8 bytes of `statement`, in base64'),
  key_id: words().description('The key of the signature, at `/.well-known/billhook-keys`'),
  quote_json: words().description('Canonical JSON of the quote as it was shown'),
  drawn_signature: orNull(Joi.string()).description('A PNG as a data URI'),
})
  .id('QuoteAcceptance')
  .example({
    id: '019a1f00-0000-7000-8000-00000000acce',
    quote: { id: exampleId.quotes, quote_number: 'QUO-0017' },
    kind: 'simple_electronic_signature',
    accepted_at: exampleTime,
    name: 'Ada Lovelace',
    agreement: 'I accept quote QUO-0017 over EUR 1,356.60 and agree to its terms.',
    order_number: '4500012345',
    address: '203.0.113.7',
    browser: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    link_id: '019a1f00-0000-7000-8000-000000001147',
    quote_sha256: 'f5fbb1b7af1fbd4e7d0b5a1a8b3f8d7a5e0e1f9bd5d6b8fb4f17fc6f3fbd4a57',
    pdf_sha256: '0d5f1f4e4b7a92c5d80f2e1a6b3c9d7e8f0a1b2c3d4e5f60718293a4b5c6d7e8',
    drawn_signature_sha256: null,
    statement: '{"accepted_at":"2026-11-02T09:30:00.000Z","account":{"id":"…","name":"Studio North"},…}',
    signature: 'm0nZ3u6g0w6hJm0n0bq9wq8vJfA3mXyqk1o8m2bYp3J9vQy1B0c7xk2b5u4s0Z8r1t6e3w9a2d5f8g1h4j7kDA==',
    key_id: '019a1f00-0000-7000-8000-00000000519e',
    quote_json: '{"amount":1140,"currency":"EUR",…}',
    drawn_signature: null,
  });
