// A form on a document's page: which act it is, when it is offered, how it looks, and what it does.
import type { VNode } from 'preact';
import type { LinkAct } from '#libs/rules/documents/link-terms.ts';
import type { DocumentVisit } from './visit.ts';
import type { Outcome } from './words/page-words.ts';

/** A form that was sent and is shown again: what was typed, and what is wrong with it. */
export interface FormAgain {
  fields: Readonly<Record<string, string | undefined>>;
  problem?: string;
  /** The names of the fields that the problem is about. */
  wrong?: readonly string[];
}

/** The result of a form: a sentence above the page that follows, or the form again. */
export type FormResult =
  | { done: Outcome }
  | { again: FormAgain }
  /** A page of another site, to which the reader is led. */
  | { goTo: string };

export interface ClientForm {
  /** The act that the link must allow. */
  act: LinkAct;
  /** True when the document takes it now. Otherwise the page has no such form, and says so when it is sent. */
  isOffered: (visit: DocumentVisit) => boolean;
  /** The outcome that the document keeps. While it stands, the form finds itself done, as after a second click. */
  outcome?: Outcome;
  /** The form, made with formOf. @param again when it was sent and not done. */
  show: (visit: DocumentVisit, again?: FormAgain) => VNode;
  /** Does the act. Changes go through change() of visit.ts. An AppError of 4xx shows the form again with its text. */
  send: (visit: DocumentVisit, fields: FormAgain['fields']) => Promise<FormResult>;
  /** The most bytes of its fields, 32 KiB unless given. */
  bytesMax?: number;
}
