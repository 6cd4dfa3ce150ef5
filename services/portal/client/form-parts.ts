// The parts that the forms of a client's page have in common: their frame, their fields, and the words that are read from them.
import type Joi from 'joi';
import type { VNode } from 'preact';
import type { AnswerOutcome } from '#libs/billing/answers/answer-quote.ts';
import { BROWSER_LONGEST, type Visitor } from '#libs/billing/answers/visitor.ts';
import { validation } from '#libs/input/kinds.ts';
import { type Children, html } from '#libs/pages/html.ts';
import { faultOf, formProblem } from '#libs/pages/parts.ts';
import type { FormAgain } from './client-form.ts';
import type { DocumentVisit, Visit } from './visit.ts';

interface Frame {
  /** The path below that of the document. */
  path: string;
  title: string;
  fields: Children;
  button: string;
  isMain?: boolean;
  /** True for a form that few need: it is folded until it is opened, or shown again. */
  isFolded?: boolean;
}

/** Returns a form in a card. What was wrong with it has the focus, so that a phone shows it without scrolling. */
export function formOf(
  visit: DocumentVisit,
  { path, title, fields, button, isMain, isFolded }: Frame,
  again?: FormAgain,
): VNode {
  const form = html`<form method="post" action=${visit.base + path}>
    ${again?.problem ? formProblem(again.problem) : null}
    <input type="hidden" name="csrf" value=${visit.csrf} />
    ${fields}
    <p class="actions"><button class=${isMain ? 'main' : null}>${button}</button></p>
  </form>`;
  if (isFolded) {
    return html`<section class="card"><details open=${again !== undefined}><summary>${title}</summary>${form}</details></section>`;
  }
  return html`<section class="card"><h2>${title}</h2>${form}</section>`;
}

/** Returns a box that a person ticks. Nothing is ticked beforehand, also when the form is shown again. */
export function tick(name: string, sentence: string, again?: FormAgain): VNode {
  return html`<label class="tick"><input type="checkbox" name=${name} value="yes" required ...${faultOf(name, again?.wrong)} /><span dir="auto">${sentence}</span></label>`;
}

/** Returns the sentence about an answer to a quote that was not taken. */
export function notAnswered({ locale }: Visit, outcome: Exclude<AnswerOutcome, 'done' | 'done before'>): string {
  const { answers, problems } = locale.words;
  return outcome === 'not open' ? problems.notOffered : answers.problems[outcome];
}

/** Returns the reader of the page as evidence and events name them. */
export function visitorOf({ link, request }: Visit): Visitor {
  return {
    linkId: String(link._id),
    address: request.ip ?? '',
    browser: (request.get('User-Agent') ?? '').slice(0, BROWSER_LONGEST),
  };
}

/** Returns the text of a field, or undefined when it does not have the form. */
export function textIn<Text>(shape: Joi.Schema<Text>, value: string | undefined): Text | undefined {
  const { value: text, error } = shape.validate(value, validation);
  return error ? undefined : text;
}

/** Returns the sentences about the wrong fields as one. Undefined when no field is wrong. */
export function problemIn(
  checks: readonly (readonly [isWrong: boolean, field: string, sentence: string])[],
): Required<Pick<FormAgain, 'problem' | 'wrong'>> | undefined {
  const found = checks.filter(([isWrong]) => isWrong);
  if (found.length === 0) return undefined;
  return { problem: found.map(([, , sentence]) => sentence).join(' '), wrong: found.map(([, field]) => field) };
}
