// The words of the client's pages in German.
import { german as answers } from './answers/german.ts';
import type { PageWords } from './page-words.ts';

export const german: PageWords = {
  states: {
    open: 'Offen',
    overdue: 'Überfällig',
    partly_paid: 'Teilweise bezahlt',
    paid: 'Bezahlt',
    cancelled: 'Storniert',
    written_off: 'Ausgebucht',
    to_accept: 'Offen',
    accepted: 'Angenommen',
    declined: 'Abgelehnt',
    expired: 'Abgelaufen',
  },
  due: 'Offener Betrag',
  download: 'PDF herunterladen',
  movements: 'Zahlungen und Gutschriften',
  payment: 'Zahlung',
  credit: 'Gutschrift',
  more: 'Nur die neuesten sind aufgeführt.',
  back: 'Zurück',
  documents: 'Offene Dokumente',
  nothingOpen: 'Zurzeit ist nichts offen.',
  next: 'Weiter',
  previous: 'Zurück',
  preview: 'Vorschau: Dieser Aufruf wird nicht gezählt.',
  expired: {
    title: 'Dieser Link ist abgelaufen',
    text: 'Zu Ihrer Sicherheit sind Links nur begrenzt gültig. Ein neuer geht an die Adresse, an die dieser geschickt wurde.',
    button: 'Neuen Link zusenden',
  },
  done: {
    renewed: 'Ein neuer Link ist unterwegs. Bitte sehen Sie in einigen Minuten in Ihr Postfach.',
    accepted: 'Vielen Dank. Sie haben das Angebot angenommen.',
    declined: 'Sie haben das Angebot abgelehnt.',
    promised: 'Vielen Dank. Wir haben den Tag vorgemerkt.',
    asked: 'Ihre Frage wurde gesendet.',
  },
  problems: {
    notOffered: 'Das ist nicht mehr möglich. Die Seite zeigt den aktuellen Stand.',
    expiredForm: 'Die Seite war veraltet, und es wurde nichts geändert. Bitte versuchen Sie es noch einmal.',
    unavailable: 'Das ist im Moment nicht möglich. Bitte versuchen Sie es in einigen Minuten noch einmal.',
  },
  answers,
  questions: (email) => `Fragen? Schreiben Sie an ${email}.`,
};
