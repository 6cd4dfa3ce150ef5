// The words that the client's pages need besides those of documents, in each language.
import type { AnswerWords } from './answers/answer-words.ts';

export interface PageWords {
  /** The state of a document beside its number. */
  states: Record<
    | 'open'
    | 'overdue'
    | 'partly_paid'
    | 'paid'
    | 'cancelled'
    | 'written_off'
    | 'to_accept'
    | 'accepted'
    | 'declined'
    | 'expired',
    string
  >;
  /** The label above the sum that is due. */
  due: string;
  download: string;
  /** The heading of what was paid and credited so far. */
  movements: string;
  payment: string;
  credit: string;
  /** The note below a list that leaves movements out. */
  more: string;
  /** The link from a document, or its hours, to the page before. */
  back: string;
  /** The title of the list of a client's link. */
  documents: string;
  nothingOpen: string;
  next: string;
  previous: string;
  /** The note above a page that the owner looks at. */
  preview: string;
  /** The page of a link that has expired. */
  expired: { title: string; text: string; button: string };
  /** The sentence after each outcome of a form. */
  done: Record<Outcome, string>;
  problems: {
    notOffered: string;
    expiredForm: string;
    unavailable: string;
  };
  /** The forms by which the client answers. */
  answers: AnswerWords;
  /** The sentence at the foot that names the address for questions. @param email of the account. */
  questions: (email: string) => string;
}

/** The outcomes of forms, as the address of the page that follows names them. */
export const OUTCOMES = ['renewed', 'accepted', 'declined', 'promised', 'asked'] as const;
export type Outcome = (typeof OUTCOMES)[number];
