// Shows the answers that the client gave on this page before, and what the account answered.
import type { VNode } from 'preact';
import { dayIn } from '#libs/day.ts';
import { promiseStatus, promisesOf } from '#libs/models/answers/promise.ts';
import { questionsAbout } from '#libs/models/answers/question.ts';
import { evidenceOf, quoteEvidenceView } from '#libs/models/answers/quote-evidence.ts';
import { html } from '#libs/pages/html.ts';
import { note } from '#libs/pages/parts.ts';
import { isChangedSince } from '#libs/rules/quotes/acceptance.ts';
import type { DocumentVisit } from '../visit.ts';

/** The latest questions that are shown. */
const QUESTIONS_SHOWN = 20;

/** Returns the acceptance or the open promise as a note, or nothing. Of a quote that was changed since it says so: it is not what was accepted. */
export async function acceptedOrPromised(visit: DocumentVisit): Promise<VNode | null> {
  const { subject, locale, account } = visit;
  const { said } = locale.words.answers;
  if (subject.type === 'quote') {
    const { status, acceptance } = subject.record;
    if (status !== 'Accepted' || !acceptance) return null;
    if (isChangedSince(subject.record)) {
      return note('warn', said.changedSince(locale.day(dayIn(account.time_zone, acceptance.at))));
    }
    if (acceptance.by !== 'client') return null;
    const evidence = await evidenceOf(subject.record);
    if (!evidence) return null;
    const { name, accepted_at } = quoteEvidenceView(evidence);
    return note('good', said.accepted(name, locale.day(dayIn(account.time_zone, new Date(accepted_at)))));
  }
  if (!subject.record.reminder_rest) return null;
  const open = (await promisesOf(subject.record)).find((promise) => promiseStatus(promise, subject.record) === 'open');
  return open ? note('quiet', said.promised(locale.day(open.promised_for))) : null;
}

/** Returns the questions about the document with their answers, the latest first. */
export async function questionsCard({ subject, locale }: DocumentVisit): Promise<VNode | null> {
  const { said } = locale.words.answers;
  const questions = (await questionsAbout(subject.record, QUESTIONS_SHOWN)).filter(
    ({ status, text }) => status !== 'closed' && text !== '',
  );
  if (questions.length === 0) return null;
  return html`<section class="card">
    <h2>${said.questions}</h2>
    ${questions.map(
      ({ text, answer, line_description }) => html`<div class="question">
        ${line_description ? html`<p class="quiet text" dir="auto">${line_description}</p>` : null}
        <p class="text" dir="auto">${text}</p>
        ${
          answer
            ? html`<blockquote><p class="quiet">${said.answer}</p><p class="text" dir="auto">${answer}</p></blockquote>`
            : html`<p class="quiet">${said.waiting}</p>`
        }
      </div>`,
    )}
  </section>`;
}
