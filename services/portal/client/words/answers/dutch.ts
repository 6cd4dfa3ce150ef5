// The words of a client's answers in Dutch.
import type { AnswerWords } from './answer-words.ts';

export const dutch: AnswerWords = {
  accept: {
    title: 'Deze offerte aanvaarden',
    name: 'Uw volledige naam',
    order: 'Uw bestelnummer (optioneel)',
    draw: 'Teken uw handtekening (optioneel)',
    clear: 'Wissen',
    agree: (quote, total) => `Ik aanvaard ${quote} van ${total} en ga akkoord met de voorwaarden.`,
    button: 'Aanvaarden met betalingsverplichting',
  },
  decline: {
    title: 'Afwijzen',
    reason: 'Reden (optioneel)',
    confirm: 'Ik wil deze offerte niet.',
    button: 'Offerte afwijzen',
  },
  promise: { title: 'Laat ons weten wanneer u betaalt', day: 'Ik betaal op', button: 'Deze dag bevestigen' },
  ask: {
    title: 'Een vraag stellen',
    text: 'Uw vraag',
    line: 'Over',
    noLine: 'het hele document',
    button: 'Vraag versturen',
  },
  askForNew: 'Deze offerte is verlopen. Vraag een nieuwe aan',
  said: {
    accepted: (name, day) => `Aanvaard door ${name} op ${day}.`,
    changedSince: (day) =>
      `Een eerdere versie van deze offerte is aanvaard op ${day}. De offerte is sindsdien gewijzigd.`,
    promised: (day) => `U hebt aangegeven op ${day} te betalen.`,
    questions: 'Uw vragen',
    waiting: 'Nog niet beantwoord.',
    answer: 'Antwoord',
  },
  problems: {
    name: 'Vul uw volledige naam in.',
    agree: 'Vink aan dat u akkoord gaat.',
    order: 'Het bestelnummer heeft hoogstens 200 tekens.',
    drawn: 'De getekende handtekening is niet leesbaar. Teken ze opnieuw of laat ze weg.',
    confirm: 'Vink aan dat u de offerte niet wilt.',
    reason: 'De reden heeft hoogstens 1.000 tekens.',
    changed: 'De offerte is intussen gewijzigd. Lees ze opnieuw voordat u ze aanvaardt.',
    expired: 'De offerte is verlopen. Vraag een nieuwe aan.',
    day: (first, last) => `Kies een dag van ${first} tot ${last}.`,
    promises: 'U hebt al twee keer een dag genoemd. Schrijf ons a.u.b.',
    text: 'Schrijf een vraag van hoogstens 2.000 tekens.',
    questions: 'Wacht op de antwoorden op uw andere vragen.',
  },
};
