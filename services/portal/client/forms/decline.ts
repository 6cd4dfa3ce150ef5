// The form by which a client declines a quote. A reason is welcome, and a tick is needed: programs that check mail send
// every form, and tick nothing.
import { declineAsClient } from '#libs/billing/answers/answer-quote.ts';
import { text } from '#libs/input/kinds.ts';
import { html } from '#libs/pages/html.ts';
import { faultOf } from '#libs/pages/parts.ts';
import type { ClientForm } from '../client-form.ts';
import { formOf, notAnswered, problemIn, textIn, tick } from '../form-parts.ts';
import { change, shownVersion } from '../visit.ts';
import { isOpenQuote } from './accept.ts';

const REASON_LONGEST = 1_000;

export const declineForm: ClientForm = {
  act: 'accept',
  outcome: 'declined',
  isOffered: isOpenQuote,
  show(visit, again) {
    const { decline } = visit.locale.words.answers;
    const fields = html`<div class="fields">
      <input type="hidden" name="version" value=${shownVersion(visit)} />
      <label>${decline.reason}<textarea name="reason" rows="3" maxlength=${REASON_LONGEST} dir="auto" ...${faultOf('reason', again?.wrong)}>${again?.fields['reason'] ?? ''}</textarea></label>
      ${tick('confirm', decline.confirm, again)}
    </div>`;
    const frame = { path: '/decline', title: decline.title, fields, button: decline.button, isFolded: true };
    return formOf(visit, frame, again);
  },
  async send(visit, fields) {
    const { problems } = visit.locale.words.answers;
    const reason = textIn(text().max(REASON_LONGEST).allow(''), fields['reason'] ?? '');
    const problem = problemIn([
      [reason === undefined, 'reason', problems.reason],
      [fields['confirm'] !== 'yes', 'confirm', problems.confirm],
    ]);
    if (problem) return { again: { fields, ...problem } };
    const id = visit.subject.record._id;
    const declining = { id, content: fields['version'] ?? '', reason: reason || undefined };
    const outcome = await change(visit, (unit) => declineAsClient(unit, declining));
    if (outcome === 'done' || outcome === 'done before') return { done: 'declined' };
    return { again: { fields, problem: notAnswered(visit, outcome) } };
  },
};
