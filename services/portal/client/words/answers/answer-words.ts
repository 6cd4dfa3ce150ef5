// The words of the forms by which a client answers, and of what it said before, in each language.

export interface AnswerWords {
  accept: {
    title: string;
    name: string;
    order: string;
    /** Above the field to draw in. */
    draw: string;
    clear: string;
    /** The sentence that is agreed to. It becomes a part of the evidence. */
    agree: (quote: string, total: string) => string;
    button: string;
  };
  decline: { title: string; reason: string; confirm: string; button: string };
  promise: { title: string; day: string; button: string };
  ask: { title: string; text: string; line: string; noLine: string; button: string };
  /** The heading of the question about a quote that has expired. */
  askForNew: string;
  /** Sentences about earlier answers. */
  said: {
    accepted: (name: string, day: string) => string;
    /** The sentence about an accepted quote that was changed since. `day` is that of its acceptance. */
    changedSince: (day: string) => string;
    promised: (day: string) => string;
    questions: string;
    waiting: string;
    answer: string;
  };
  problems: {
    name: string;
    agree: string;
    order: string;
    drawn: string;
    confirm: string;
    reason: string;
    changed: string;
    expired: string;
    day: (first: string, last: string) => string;
    promises: string;
    text: string;
    questions: string;
  };
}
