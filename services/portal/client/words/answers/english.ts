// The words of a client's answers in English.
import type { AnswerWords } from './answer-words.ts';

export const english: AnswerWords = {
  accept: {
    title: 'Accept this quote',
    name: 'Your full name',
    order: 'Your order number (optional)',
    draw: 'Draw your signature (optional)',
    clear: 'Clear',
    agree: (quote, total) => `I accept ${quote} over ${total} and agree to its terms.`,
    button: 'Accept with obligation to pay',
  },
  decline: {
    title: 'Decline',
    reason: 'Reason (optional)',
    confirm: 'I do not want this quote.',
    button: 'Decline the quote',
  },
  promise: { title: 'Tell us when you will pay', day: 'I will pay on', button: 'Confirm this day' },
  ask: {
    title: 'Ask a question',
    text: 'Your question',
    line: 'About',
    noLine: 'the whole document',
    button: 'Send the question',
  },
  askForNew: 'This quote has expired. Ask for a new one',
  said: {
    accepted: (name, day) => `Accepted by ${name} on ${day}.`,
    changedSince: (day) => `An earlier version of this quote was accepted on ${day}. It has been changed since then.`,
    promised: (day) => `You said that you will pay on ${day}.`,
    questions: 'Your questions',
    waiting: 'Not answered yet.',
    answer: 'Answer',
  },
  problems: {
    name: 'Please type your full name.',
    agree: 'Please tick that you agree.',
    order: 'The order number has at most 200 characters.',
    drawn: 'The drawn signature could not be read. Please draw it again, or leave it out.',
    confirm: 'Please tick that you do not want the quote.',
    reason: 'The reason has at most 1,000 characters.',
    changed: 'The quote was changed in the meantime. Please read it again before you accept it.',
    expired: 'The quote has expired. Please ask for a new one.',
    day: (first, last) => `Please choose a day from ${first} to ${last}.`,
    promises: 'You have already named a day twice. Please write to us.',
    text: 'Please write a question of at most 2,000 characters.',
    questions: 'Please wait for the answers to your other questions.',
  },
};
