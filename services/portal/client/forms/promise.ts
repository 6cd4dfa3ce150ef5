// The form by which a client names the day on which it will pay.
import { promisableDays, promisePayment } from '#libs/billing/answers/promise-payment.ts';
import { day } from '#libs/input/kinds.ts';
import { html } from '#libs/pages/html.ts';
import { faultOf } from '#libs/pages/parts.ts';
import type { ClientForm } from '../client-form.ts';
import { stateOf } from '../document-state.ts';
import { formOf, textIn, visitorOf } from '../form-parts.ts';
import { change } from '../visit.ts';

export const promiseForm: ClientForm = {
  act: 'promise',
  isOffered: ({ subject, today }) => subject.type === 'invoice' && stateOf(subject, today).isDue,
  show(visit, again) {
    const { promise } = visit.locale.words.answers;
    const { first, last } = promisableDays(visit.today);
    // No day is given beforehand, so that a form that is sent empty promises nothing.
    const fields = html`<label>${promise.day}<input type="date" name="day" value=${again?.fields['day'] ?? ''} min=${first} max=${last} required ...${faultOf('day', again?.wrong)} /></label>`;
    const frame = { path: '/promise', title: promise.title, fields, button: promise.button, isFolded: true };
    return formOf(visit, frame, again);
  },
  async send(visit, fields) {
    const { words, day: written } = visit.locale;
    const { problems } = words.answers;
    const { first, last } = promisableDays(visit.today);
    const wrongDay = { again: { fields, problem: problems.day(written(first), written(last)), wrong: ['day'] } };
    const wanted = textIn(day().required(), fields['day']);
    if (!wanted) return wrongDay;
    const id = visit.subject.record._id;
    const outcome = await change(visit, (unit) => promisePayment(unit, { id, day: wanted, visitor: visitorOf(visit) }));
    if (outcome === 'done' || outcome === 'done before') return { done: 'promised' };
    if (outcome === 'wrong day') return wrongDay;
    return { again: { fields, problem: outcome === 'too many' ? problems.promises : words.problems.notOffered } };
  },
};
