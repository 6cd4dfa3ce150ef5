// The words of mails in German.
import type { MailTexts } from './mail-texts.ts';

export const german: MailTexts = {
  invoice: {
    subject: 'Rechnung {number} von {sender}',
    body: [
      'Guten Tag {client_name},',
      'im Anhang erhalten Sie die Rechnung **{number}** vom {date} über **{total}**. Zahlbar sind {amount_due} bis zum {due_date}.',
      'Vielen Dank und freundliche Grüße\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'wir haben die Rechnung **{number}** vom {date} über **{total}** gestellt. Zahlbar sind {amount_due} bis zum {due_date}.',
  },
  quote: {
    subject: 'Angebot {number} von {sender}',
    body: [
      'Guten Tag {client_name},',
      'im Anhang erhalten Sie unser Angebot **{number}** über **{total}**. Es gilt bis zum {valid_until}.',
      'Wir freuen uns auf Ihre Antwort. Freundliche Grüße\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'wir haben für Sie das Angebot **{number}** über **{total}** erstellt. Es gilt bis zum {valid_until}.',
  },
  reminder_1: {
    subject: 'Erinnerung: Rechnung {number}',
    body: [
      'Guten Tag {client_name},',
      'wir möchten Sie freundlich an die Rechnung **{number}** vom {date} erinnern: **{amount_due}** sind am {due_date} fällig.',
      'Falls Sie inzwischen bezahlt haben, betrachten Sie diese Nachricht bitte als gegenstandslos. Freundliche Grüße\n{sender}',
    ].join('\n\n'),
  },
  reminder_2: {
    subject: 'Rechnung {number} ist fällig',
    body: [
      'Guten Tag {client_name},',
      'die Rechnung **{number}** vom {date} war am {due_date} fällig, und **{amount_due}** sind noch offen. Bitte überweisen Sie den Betrag in den nächsten Tagen.',
      'Falls Sie inzwischen bezahlt haben, betrachten Sie diese Nachricht bitte als gegenstandslos. Freundliche Grüße\n{sender}',
    ].join('\n\n'),
  },
  reminder_3: {
    subject: 'Zweite Mahnung: Rechnung {number}',
    body: [
      'Guten Tag {client_name},',
      'für die Rechnung **{number}**, fällig am {due_date}, haben wir **{amount_due}** noch nicht erhalten. Bitte zahlen Sie jetzt, oder sagen Sie uns, wenn etwas unklar ist.',
      'Freundliche Grüße\n{sender}',
    ].join('\n\n'),
  },
  reminder_4: {
    subject: 'Dritte Mahnung: Rechnung {number}',
    body: [
      'Guten Tag {client_name},',
      'trotz unserer Erinnerungen sind **{amount_due}** aus der Rechnung **{number}**, fällig am {due_date}, noch offen. Bitte zahlen Sie innerhalb von sieben Tagen.',
      'Freundliche Grüße\n{sender}',
    ].join('\n\n'),
  },
  reminder_5: {
    subject: 'Letzte Mahnung: Rechnung {number}',
    body: [
      'Guten Tag {client_name},',
      'dies ist unsere letzte Mahnung zur Rechnung **{number}**, die am {due_date} fällig war. **{amount_due}** sind noch offen. Bitte zahlen Sie jetzt, damit keine weiteren Schritte nötig werden.',
      'Freundliche Grüße\n{sender}',
    ].join('\n\n'),
  },
  receipt: {
    subject: 'Vielen Dank für Ihre Zahlung, {number}',
    body: [
      'Guten Tag {client_name},',
      'vielen Dank für Ihre Zahlung von **{total}** vom {date}. Die Quittung **{number}** ist angehängt.',
      'Freundliche Grüße\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'vielen Dank für Ihre Zahlung von **{total}** vom {date}. Die Quittung hat die Nummer **{number}**.',
  },
  credit_note: {
    subject: 'Gutschrift {number} von {sender}',
    body: [
      'Guten Tag {client_name},',
      'im Anhang erhalten Sie die Gutschrift **{number}** über **{total}** zur Rechnung {invoice_number}.',
      'Freundliche Grüße\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'wir haben die Gutschrift **{number}** über **{total}** zur Rechnung {invoice_number} erstellt.',
  },
  link: {
    subject: 'Ihr Link zu {number}',
    body: ['Guten Tag {client_name},', 'hier ist Ihr Link zu {number}:', '{link}', 'Freundliche Grüße\n{sender}'].join(
      '\n\n',
    ),
  },
  answer: {
    subject: 'Antwort auf Ihre Frage zu {number}',
    body: [
      'Guten Tag {client_name},',
      'Sie haben zu {number} gefragt:',
      '{question}',
      '**Unsere Antwort:**',
      '{answer}',
      'Freundliche Grüße\n{sender}',
    ].join('\n\n'),
  },
  statement: {
    subject: 'Kontoauszug von {sender}: {from} – {to}',
    body: [
      'Guten Tag {client_name},',
      'im Anhang erhalten Sie Ihren Kontoauszug vom {from} bis zum {to}. Der Endsaldo beträgt **{balance}**.',
      'Freundliche Grüße\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'Ihr Konto schließt für die Zeit vom {from} bis zum {to} mit einem Saldo von **{balance}**.',
  },
};
