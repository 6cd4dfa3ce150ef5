// The words of a client's answers in German.
import type { AnswerWords } from './answer-words.ts';

export const german: AnswerWords = {
  accept: {
    title: 'Dieses Angebot annehmen',
    name: 'Ihr vollständiger Name',
    order: 'Ihre Bestellnummer (freiwillig)',
    draw: 'Unterschrift zeichnen (freiwillig)',
    clear: 'Löschen',
    agree: (quote, total) => `Ich nehme ${quote} über ${total} an und stimme den Bedingungen zu.`,
    button: 'Zahlungspflichtig annehmen',
  },
  decline: {
    title: 'Ablehnen',
    reason: 'Grund (freiwillig)',
    confirm: 'Ich möchte dieses Angebot nicht.',
    button: 'Angebot ablehnen',
  },
  promise: { title: 'Sagen Sie uns, wann Sie zahlen', day: 'Ich zahle am', button: 'Tag bestätigen' },
  ask: {
    title: 'Eine Frage stellen',
    text: 'Ihre Frage',
    line: 'Zu',
    noLine: 'dem ganzen Dokument',
    button: 'Frage senden',
  },
  askForNew: 'Dieses Angebot ist abgelaufen. Fragen Sie nach einem neuen',
  said: {
    accepted: (name, day) => `Angenommen von ${name} am ${day}.`,
    changedSince: (day) =>
      `Am ${day} wurde eine frühere Fassung dieses Angebots angenommen. Es wurde seitdem geändert.`,
    promised: (day) => `Sie haben angekündigt, am ${day} zu zahlen.`,
    questions: 'Ihre Fragen',
    waiting: 'Noch nicht beantwortet.',
    answer: 'Antwort',
  },
  problems: {
    name: 'Bitte geben Sie Ihren vollständigen Namen ein.',
    agree: 'Bitte setzen Sie das Häkchen für Ihre Zustimmung.',
    order: 'Die Bestellnummer hat höchstens 200 Zeichen.',
    drawn:
      'Die gezeichnete Unterschrift war nicht lesbar. Bitte zeichnen Sie sie noch einmal, oder lassen Sie sie weg.',
    confirm: 'Bitte setzen Sie das Häkchen, dass Sie das Angebot nicht möchten.',
    reason: 'Der Grund hat höchstens 1.000 Zeichen.',
    changed: 'Das Angebot wurde inzwischen geändert. Bitte lesen Sie es noch einmal, bevor Sie es annehmen.',
    expired: 'Das Angebot ist abgelaufen. Bitte fragen Sie nach einem neuen.',
    day: (first, last) => `Bitte wählen Sie einen Tag vom ${first} bis zum ${last}.`,
    promises: 'Sie haben schon zweimal einen Tag genannt. Bitte schreiben Sie uns.',
    text: 'Bitte schreiben Sie eine Frage mit höchstens 2.000 Zeichen.',
    questions: 'Bitte warten Sie die Antworten auf Ihre anderen Fragen ab.',
  },
};
