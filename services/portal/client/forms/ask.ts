// The form by which a client asks a question about a document, or about a line of it.
import { askQuestion } from '#libs/billing/answers/ask-question.ts';
import { paragraphs } from '#libs/input/kinds.ts';
import { QUESTION_LONGEST } from '#libs/models/answers/question.ts';
import { html } from '#libs/pages/html.ts';
import { faultOf } from '#libs/pages/parts.ts';
import type { ClientForm } from '../client-form.ts';
import { stateOf } from '../document-state.ts';
import { formOf, textIn, visitorOf } from '../form-parts.ts';
import { change } from '../visit.ts';

/** Lines that the form offers, and characters of each. */
const LINES_SHOWN = { lines: 100, characters: 60 } as const;
const LINE_FORM = /^[1-9]\d{0,3}$/;

export const askForm: ClientForm = {
  act: 'ask',
  isOffered: ({ subject }) => subject.record.status !== 'Cancelled',
  show(visit, again) {
    const { ask, askForNew } = visit.locale.words.answers;
    const lines = (visit.subject.record.line_items ?? []).slice(0, LINES_SHOWN.lines);
    const chosen = again?.fields['line'] ?? '';
    const optionOf = (value: string, label: string) =>
      html`<option value=${value} selected=${value === chosen}>${label}</option>`;
    const fields = html`<div class="fields">
      ${
        lines.length > 1
          ? html`<label>${ask.line}<select name="line" dir="auto">
              ${optionOf('', ask.noLine)}
              ${lines.map(({ description }, index) => optionOf(String(index + 1), `${index + 1}. ${firstOf(description)}`))}
            </select></label>`
          : null
      }
      <label>${ask.text}<textarea name="text" rows="4" maxlength=${QUESTION_LONGEST} required dir="auto" ...${faultOf('text', again?.wrong)}>${again?.fields['text'] ?? ''}</textarea></label>
    </div>`;
    const hasExpired = stateOf(visit.subject, visit.today).name === 'expired';
    const title = hasExpired ? askForNew : ask.title;
    return formOf(visit, { path: '/ask', title, fields, button: ask.button, isFolded: !hasExpired }, again);
  },
  async send(visit, fields) {
    const { words } = visit.locale;
    const { problems } = words.answers;
    // Browsers send line breaks as two characters, and count one of them.
    const text = textIn(paragraphs().max(QUESTION_LONGEST).required(), fields['text']?.replaceAll('\r\n', '\n'));
    const { line = '' } = fields;
    if (text === undefined) return { again: { fields, problem: problems.text, wrong: ['text'] } };
    const { type, record } = visit.subject;
    const asked = LINE_FORM.test(line) ? { line: Number(line) } : {};
    const outcome = await change(visit, (unit) =>
      askQuestion(unit, { type, id: record._id, text: text.trim(), ...asked, visitor: visitorOf(visit) }),
    );
    if (outcome === 'done' || outcome === 'done before') return { done: 'asked' };
    return { again: { fields, problem: outcome === 'too many' ? problems.questions : words.problems.notOffered } };
  },
};

/** Returns the beginning of the first line of a description. */
function firstOf(description: string): string {
  const [first = ''] = description.split('\n');
  return first.length > LINES_SHOWN.characters ? `${first.slice(0, LINES_SHOWN.characters)}…` : first;
}
