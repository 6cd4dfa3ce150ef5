// The client asks a question about a document, and the account answers or closes it.
import { AppError, appError, type ErrorCode } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import {
  type AskedAbout,
  Question,
  type QuestionRecord,
  questionsAbout,
  questionView,
} from '../../models/answers/question.ts';
import { Invoice } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { Quote } from '../../models/billing/quote.ts';
import { DocumentLink } from '../../models/portal/document-link.ts';
import { changeOwn, driverOf, findOwn, insertOwn, lockOwn } from '../../models/records.ts';
import { type Id, newRecord, type StoredId, storedId } from '../../models/tenant.ts';
import type { EventType } from '../../models/webhooks/event-types.ts';
import { linkRecipients } from '../links/link-recipients.ts';
import { planMessage } from '../messages/plan-message.ts';
import { updateReminderRest } from '../reminders/update-rest.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import type { Visitor } from './visitor.ts';

/** The most open questions of a client about one document, and of one link about any. */
const OPEN_QUESTIONS_MAX = { document: 5, link: 20 } as const;
/** The most questions of a client about one document. */
const QUESTIONS_MAX = 100;

/**
 * The outcome of a question.
 * - `done before`: the same question about the document is open already, as after a second click.
 * - `too many`: others are open, or the document has QUESTIONS_MAX.
 * - `wrong line`: the document has no such line.
 * - `not open`: the document is a draft again, or deleted.
 */
export type QuestionOutcome = 'done' | 'done before' | 'too many' | 'wrong line' | 'not open';

export interface Asking {
  type: AskedAbout;
  id: Id | StoredId;
  text: string;
  /** The line that it is about, from 1. */
  line?: number | undefined;
  visitor: Visitor;
}

/** Notes a question. Reminders of an invoice rest while it is open, see reminderRest. */
export async function askQuestion(
  unit: UnitOfWork,
  { type, id, text, line, visitor }: Asking,
): Promise<QuestionOutcome> {
  const { session, accountId } = unit;
  const document = await (type === 'invoice'
    ? lockOwn(Invoice, accountId, id, session)
    : lockOwn(Quote, accountId, id, session));
  if (!document || document.status === 'Draft') return 'not open';
  const asked = line === undefined ? undefined : document.line_items?.[line - 1];
  if (line !== undefined && !asked) return 'wrong line';
  const questions = await questionsAbout(document, QUESTIONS_MAX, session);
  const open = questions.filter(({ status }) => status === 'open');
  if (open.some((one) => one.text === text && one.line === line)) return 'done before';
  if (questions.length >= QUESTIONS_MAX || open.length >= OPEN_QUESTIONS_MAX.document) return 'too many';
  if (await hasManyOpen(unit, visitor.linkId)) return 'too many';
  const question: QuestionRecord = {
    ...newRecord(accountId),
    document: { type, id: document._id, number: printedNumber(type, document) },
    client_id: document.client_id,
    ...(line === undefined ? {} : { line, line_description: asked?.description ?? '' }),
    text,
    status: 'open',
    link_id: storedId(visitor.linkId),
  };
  await insertOwn(Question, question, session);
  await restOf(unit, question);
  await announce(unit, 'client.asked', question);
  return 'done';
}

/** The reasons for which an answer is not mailed. The client reads it on its page all the same. */
const WITHOUT_MAIL: readonly ErrorCode[] = ['mail_not_set_up', 'client_without_address', 'recipient_suppressed'];

/**
 * Answers a question, and mails the answer where mail can be sent.
 * @returns the question in the form of the API.
 * @throws AppError 409 unless the question is open.
 */
export async function answerQuestion(
  unit: UnitOfWork,
  question: QuestionRecord,
  { answer, requestId }: { answer: string; requestId?: string | undefined },
) {
  const message_id = await mailAnswer(unit, question, { answer, requestId });
  return settle(unit, question, { status: 'answered', answer, message_id }, 'question.answered');
}

/** Closes a question without an answer. @throws AppError 409 unless the question is open. */
export async function closeQuestion(unit: UnitOfWork, question: QuestionRecord) {
  return settle(unit, question, { status: 'closed' }, 'question.closed');
}

async function settle(unit: UnitOfWork, question: QuestionRecord, changes: Partial<QuestionRecord>, event: EventType) {
  requireOpen(question);
  const settled = await changeOwn(Question, question, { ...changes, settled_at: new Date() }, unit.session);
  await restOf(unit, settled);
  return announce(unit, event, settled);
}

function requireOpen({ status }: QuestionRecord): void {
  if (status !== 'open') throw appError('question_not_open', { status });
}

async function mailAnswer(
  unit: UnitOfWork,
  question: QuestionRecord,
  { answer, requestId }: { answer: string; requestId?: string | undefined },
): Promise<StoredId | undefined> {
  requireOpen(question);
  const { document, text } = question;
  const { session, accountId } = unit;
  const wanted = { attach_pdf: false, to: await askers(unit, question) };
  const mail = { kind: 'answer', wanted, texts: { question: text, answer }, requestId } as const;
  try {
    if (document.type === 'invoice') {
      const record = await findOwn(Invoice, accountId, document.id, session);
      return record ? (await planMessage(unit, { ...mail, type: 'invoice', record }))._id : undefined;
    }
    const record = await findOwn(Quote, accountId, document.id, session);
    // A quote that was a draft again may have another client now, who gets no answer to the question of the first.
    return record?.client_id.equals(question.client_id)
      ? (await planMessage(unit, { ...mail, type: 'quote', record }))._id
      : undefined;
  } catch (error) {
    // These are thrown before anything is written.
    if (!(error instanceof AppError) || !WITHOUT_MAIL.includes(error.code)) throw error;
    return undefined;
  }
}

/**
 * Returns the people who got the link by which the question came. Undefined for the client itself: no mail carried the
 * link, the account has taken it back since, or mail to all of them came back.
 */
async function askers(unit: UnitOfWork, { link_id }: QuestionRecord): Promise<string[] | undefined> {
  const { session, accountId } = unit;
  const link = await findOwn(DocumentLink, accountId, link_id, session);
  return link && !link.revoked_at ? linkRecipients(unit, link) : undefined;
}

/** Lets the invoice of the question show how long its reminders rest. */
async function restOf(unit: UnitOfWork, { document }: QuestionRecord): Promise<void> {
  const { session, accountId } = unit;
  const invoice = document.type === 'invoice' && (await findOwn(Invoice, accountId, document.id, session));
  if (invoice) await updateReminderRest(unit, invoice, (await readAccount(accountId, session)).time_zone);
}

async function hasManyOpen({ session, accountId }: UnitOfWork, linkId: Id): Promise<boolean> {
  const open = { account_id: storedId(accountId), status: 'open', link_id: storedId(linkId) } as object;
  return (
    (await driverOf(Question).countDocuments(open, { session, limit: OPEN_QUESTIONS_MAX.link })) >=
    OPEN_QUESTIONS_MAX.link
  );
}

async function announce(unit: UnitOfWork, type: EventType, question: QuestionRecord) {
  const client: ClientRecord | null = await findOwn(Client, unit.accountId, question.client_id, unit.session);
  const view = questionView(question, client ?? undefined);
  await unit.announce(type, view);
  return view;
}
