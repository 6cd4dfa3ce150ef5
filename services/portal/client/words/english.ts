// The words of the client's pages in English.
import { english as answers } from './answers/english.ts';
import type { PageWords } from './page-words.ts';

export const english: PageWords = {
  states: {
    open: 'Open',
    overdue: 'Overdue',
    partly_paid: 'Partly paid',
    paid: 'Paid',
    cancelled: 'Cancelled',
    written_off: 'Written off',
    to_accept: 'Open',
    accepted: 'Accepted',
    declined: 'Declined',
    expired: 'Expired',
  },
  due: 'Amount due',
  download: 'Download PDF',
  movements: 'Payments and credits',
  payment: 'Payment',
  credit: 'Credit',
  more: 'Only the latest are shown.',
  back: 'Back',
  documents: 'Open documents',
  nothingOpen: 'Nothing is open at the moment.',
  next: 'Next',
  previous: 'Previous',
  preview: 'Preview: this visit is not counted.',
  expired: {
    title: 'This link has expired',
    text: 'For your safety links are valid for a limited time. A new one is sent to the address that this one was sent to.',
    button: 'Send me a new link',
  },
  done: {
    renewed: 'A new link is on its way. Please look at your mail in a few minutes.',
    accepted: 'Thank you. You have accepted the quote.',
    declined: 'You have declined the quote.',
    promised: 'Thank you. We have noted the day.',
    asked: 'Your question was sent.',
  },
  problems: {
    notOffered: 'This is no longer possible. The page shows the present state.',
    expiredForm: 'The page was out of date and nothing was changed. Please try again.',
    unavailable: 'This does not work at the moment. Please try again in a few minutes.',
  },
  answers,
  questions: (email) => `Questions? Write to ${email}.`,
};
