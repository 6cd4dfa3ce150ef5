// The words that the client's pages need besides those of documents, in each language.

export interface PageWords {
  /** The state of a document beside its number. */
  states: Record<
    'open' | 'overdue' | 'partly_paid' | 'paid' | 'cancelled' | 'to_accept' | 'accepted' | 'declined' | 'expired',
    string
  >;
  /** Above the sum that is due. */
  due: string;
  download: string;
  /** The heading of what was paid and credited so far. */
  movements: string;
  payment: string;
  credit: string;
  writtenOff: string;
  /** Where more happened than is listed. */
  more: string;
  /** The way back from a document, or its hours, to the page before. */
  back: string;
  /** The list of a client's link. */
  documents: string;
  nothingOpen: string;
  next: string;
  previous: string;
  /** Above the owner's look at the page. */
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
  /** The foot: who to ask. @param email of the account. */
  questions: (email: string) => string;
}

/** The outcomes of forms, as the address of the page that follows names them. */
export const OUTCOMES = ['renewed'] as const;
export type Outcome = (typeof OUTCOMES)[number];
