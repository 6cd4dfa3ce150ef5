// The form by which a client accepts a quote: its name, a tick, maybe a drawn signature and an order number.
import { acceptAsClient } from '#libs/billing/answers/answer-quote.ts';
import { name as nameShape, REFERENCE_LONGEST, reference } from '#libs/input/kinds.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import { effectiveQuoteStatus } from '#libs/models/billing/quote.ts';
import { openSigner } from '#libs/models/operations/signing-key.ts';
import { html } from '#libs/pages/html.ts';
import { faultOf } from '#libs/pages/parts.ts';
import { totalOf } from '#libs/rules/money/balance.ts';
import { DRAWN_BYTES_MAX, drawnSignature } from '#libs/rules/quotes/drawn-signature.ts';
import type { ClientForm, FormAgain, FormResult } from '../client-form.ts';
import { formOf, notAnswered, problemIn, textIn, tick, visitorOf } from '../form-parts.ts';
import { keptOriginal } from '../send-original.ts';
import { change, type DocumentVisit, shownVersion } from '../visit.ts';

const NAME_LONGEST = 200;
const DRAWN_START = 'data:image/png;base64,';
/** The most characters of the picture as the page sends it. */
const DRAWN_LONGEST = DRAWN_START.length + Math.floor(DRAWN_BYTES_MAX / 3) * 4;
/** The drawn signature in base64, with its signs percent-encoded, and the other fields. */
const BYTES_MAX = DRAWN_BYTES_MAX * 2;

export const acceptForm: ClientForm = {
  act: 'accept',
  outcome: 'accepted',
  isOffered: isOpenQuote,
  bytesMax: BYTES_MAX,
  show(visit, again) {
    const { accept } = visit.locale.words.answers;
    const given = again?.fields ?? {};
    const fields = html`<div class="fields">
      <input type="hidden" name="version" value=${shownVersion(visit)} />
      <label>${accept.name}<input name="name" value=${given['name'] ?? ''} maxlength=${NAME_LONGEST} autocomplete="name" required dir="auto" ...${faultOf('name', again?.wrong)} /></label>
      <label>${accept.order}<input name="order_number" value=${given['order_number'] ?? ''} maxlength=${REFERENCE_LONGEST} autocomplete="off" dir="auto" ...${faultOf('order_number', again?.wrong)} /></label>
      <div class="draw" hidden>
        <span>${accept.draw}</span>
        <canvas width="900" height="270" role="img" aria-label=${accept.draw}></canvas>
        <input type="hidden" name="drawn" value=${given['drawn'] ?? ''} data-longest=${DRAWN_LONGEST} />
        <button type="button">${accept.clear}</button>
      </div>
      ${tick('agree', agreementOf(visit), again)}
    </div>`;
    return formOf(visit, { path: '/accept', title: accept.title, fields, button: accept.button, isMain: true }, again);
  },
  send: sendAcceptance,
};

/** True for a quote that can be accepted or declined today. */
export function isOpenQuote({ subject, today }: DocumentVisit): boolean {
  return subject.type === 'quote' && effectiveQuoteStatus(subject.record, today) === 'Sent';
}

async function sendAcceptance(visit: DocumentVisit, fields: FormAgain['fields']): Promise<FormResult> {
  const { problems } = visit.locale.words.answers;
  const name = textIn(nameShape().max(NAME_LONGEST).required(), fields['name']);
  const order = textIn(reference().allow(''), fields['order_number'] ?? '');
  const picture = fields['drawn'] ?? '';
  const drawn = picture === '' ? undefined : drawnIn(picture);
  const problem = problemIn([
    [name === undefined, 'name', problems.name],
    [order === undefined, 'order_number', problems.order],
    [picture !== '' && !drawn, 'drawn', problems.drawn],
    [fields['agree'] !== 'yes', 'agree', problems.agree],
  ]);
  const kept = drawn ? fields : { ...fields, drawn: '' };
  if (problem || name === undefined) return { again: { fields: kept, ...problem } };
  const original = await keptOriginal(visit);
  const signer = await openSigner(visit.parts.box);
  const outcome = await change(visit, (unit) =>
    acceptAsClient(unit, {
      id: visit.subject.record._id,
      content: fields['version'] ?? '',
      name,
      agreement: agreementOf(visit),
      order_number: order || undefined,
      drawn,
      pdf_sha256: original,
      visitor: visitorOf(visit),
      signer,
    }),
  );
  if (outcome === 'done' || outcome === 'done before') return { done: 'accepted' };
  return { again: { fields: kept, problem: notAnswered(visit, outcome) } };
}

/** Returns the sentence that the client agrees to. It is never read from the form. */
function agreementOf({ subject, locale }: DocumentVisit): string {
  const number = subject.type === 'quote' ? printedNumber('quote', subject.record) : '';
  return locale.words.answers.accept.agree(number, locale.minor(totalOf(subject.record)));
}

function drawnIn(text: string): Buffer | undefined {
  if (!text.startsWith(DRAWN_START)) return undefined;
  return drawnSignature(Buffer.from(text.slice(DRAWN_START.length), 'base64'));
}
