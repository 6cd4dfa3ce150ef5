// A question that a client asks about a document on its page, and the answer of the account.
import type { Session } from '../../mongo/connection.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, recordsOf, type Stamped } from '../records.ts';
import { removeAllWith } from '../remove-records.ts';
import { type Id, idField, requiredIdField, type StoredId } from '../tenant.ts';

export const QUESTION_STATUSES = ['open', 'answered', 'closed'] as const;
type QuestionStatus = (typeof QUESTION_STATUSES)[number];

/** The documents that a client can ask about. */
export const ASKED_ABOUT = ['invoice', 'quote'] as const;
export type AskedAbout = (typeof ASKED_ABOUT)[number];

/** Characters of a question, and of an answer. */
export const QUESTION_LONGEST = 2_000;

export interface QuestionRecord extends Stamped {
  document: { type: AskedAbout; id: StoredId; number: string };
  client_id: StoredId;
  /** The line of the document that it is about, from 1. */
  line?: number | undefined;
  /** The text of that line as it was. */
  line_description?: string | undefined;
  text: string;
  status: QuestionStatus;
  answer?: string | undefined;
  /** The time at which it was answered or closed. */
  settled_at?: Date | undefined;
  /** The mail with the answer. Absent when none could be sent. */
  message_id?: StoredId | undefined;
  /** The link by which the client came. */
  link_id: StoredId;
}

export const questionListing: ListingOf<QuestionRecord, 'created_at' | 'updated_at'> = {
  filters: ['document.id', 'client_id', 'status'],
  orders: { created_at: '_id', updated_at: 'updated_at' },
  standard: '-created_at',
};

const questionSchema = recordSchema<QuestionRecord>(
  'questions',
  {
    document: {
      _id: false,
      type: { type: String, enum: ASKED_ABOUT, required: true },
      id: requiredIdField,
      number: { type: String, required: true },
    },
    client_id: requiredIdField,
    line: Number,
    line_description: String,
    text: { type: String, required: true },
    status: { type: String, enum: QUESTION_STATUSES, required: true },
    answer: String,
    settled_at: Date,
    message_id: idField,
    link_id: requiredIdField,
  },
  questionListing,
);

// The open questions of a link are counted along it.
questionSchema.index({ account_id: 1, link_id: 1, status: 1 });

export const Question = recordsOf<QuestionRecord>('Question', questionSchema);

/**
 * Returns the questions of the document's client, the latest first. A quote that was a draft again may have had another
 * client before, whose words are not to be shown.
 * @param most the most that are read.
 */
export async function questionsAbout(
  { _id, account_id, client_id }: Pick<QuestionRecord, '_id' | 'account_id' | 'client_id'>,
  most: number,
  session?: Session,
): Promise<QuestionRecord[]> {
  const about = { account_id, 'document.id': _id, client_id } as object;
  const found = await driverOf(Question)
    .find(about, { sort: { _id: -1 }, limit: most, ...(session ? { session } : {}) })
    .toArray();
  return found as unknown as QuestionRecord[];
}

/** Removes the questions about a document that is deleted. */
export async function removeQuestions(accountId: Id, documentId: StoredId, session: Session): Promise<void> {
  await removeAllWith(Question, accountId, { 'document.id': documentId } as object, session, async () => undefined);
}

/** Returns the question in the form of the API. */
export function questionView(question: QuestionRecord, client: ClientDetails | undefined) {
  const { document, settled_at, message_id } = question;
  return {
    id: String(question._id),
    document: { type: document.type, id: String(document.id), number: document.number },
    client: client ? embeddedClient(client) : null,
    line: question.line ?? null,
    line_description: question.line_description ?? null,
    text: question.text,
    status: question.status,
    answer: question.answer ?? null,
    settled_at: settled_at?.toISOString() ?? null,
    message_id: message_id ? String(message_id) : null,
    created_at: question.created_at.toISOString(),
    updated_at: question.updated_at.toISOString(),
  };
}
