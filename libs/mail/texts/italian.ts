// The words of mails in Italian.
import type { MailTexts } from './mail-texts.ts';

export const italian: MailTexts = {
  invoice: {
    subject: 'Fattura {number} da {sender}',
    body: [
      'Buongiorno {client_name},',
      'in allegato trova la fattura **{number}** del {date} di **{total}**. L’importo di {amount_due} scade il {due_date}.',
      'Grazie e cordiali saluti\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'abbiamo emesso la fattura **{number}** del {date} di **{total}**. L’importo di {amount_due} scade il {due_date}.',
  },
  quote: {
    subject: 'Preventivo {number} da {sender}',
    body: [
      'Buongiorno {client_name},',
      'in allegato trova il nostro preventivo **{number}** di **{total}**. È valido fino al {valid_until}.',
      'Restiamo in attesa di una Sua risposta. Cordiali saluti\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'abbiamo preparato per Lei il preventivo **{number}** di **{total}**. È valido fino al {valid_until}.',
  },
  reminder_1: {
    subject: 'Promemoria: fattura {number}',
    body: [
      'Buongiorno {client_name},',
      'Le ricordiamo cortesemente la fattura **{number}** del {date}: **{amount_due}** scade il {due_date}.',
      'Se ha già pagato, non tenga conto di questo messaggio. Cordiali saluti\n{sender}',
    ].join('\n\n'),
  },
  reminder_2: {
    subject: 'La fattura {number} è scaduta',
    body: [
      'Buongiorno {client_name},',
      'la fattura **{number}** del {date} è scaduta il {due_date}, e l’importo di **{amount_due}** è ancora da saldare. La preghiamo di pagare nei prossimi giorni.',
      'Se ha già pagato, non tenga conto di questo messaggio. Cordiali saluti\n{sender}',
    ].join('\n\n'),
  },
  reminder_3: {
    subject: 'Secondo sollecito: fattura {number}',
    body: [
      'Buongiorno {client_name},',
      'non abbiamo ancora ricevuto **{amount_due}** per la fattura **{number}**, scaduta il {due_date}. La preghiamo di pagare ora, o di dirci se qualcosa non è chiaro.',
      'Cordiali saluti\n{sender}',
    ].join('\n\n'),
  },
  reminder_4: {
    subject: 'Terzo sollecito: fattura {number}',
    body: [
      'Buongiorno {client_name},',
      'nonostante i nostri solleciti, l’importo di **{amount_due}** della fattura **{number}**, scaduta il {due_date}, è ancora da saldare. La preghiamo di pagare entro sette giorni.',
      'Cordiali saluti\n{sender}',
    ].join('\n\n'),
  },
  reminder_5: {
    subject: 'Ultimo sollecito: fattura {number}',
    body: [
      'Buongiorno {client_name},',
      'questo è il nostro ultimo sollecito per la fattura **{number}**, scaduta il {due_date}. L’importo di **{amount_due}** è ancora da saldare. La preghiamo di pagare ora, affinché non siano necessari altri passi.',
      'Cordiali saluti\n{sender}',
    ].join('\n\n'),
  },
  receipt: {
    subject: 'Grazie per il Suo pagamento, {number}',
    body: [
      'Buongiorno {client_name},',
      'grazie per il Suo pagamento di **{total}** del {date}. In allegato trova la ricevuta **{number}**.',
      'Cordiali saluti\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'grazie per il Suo pagamento di **{total}** del {date}. La ricevuta ha il numero **{number}**.',
  },
  credit_note: {
    subject: 'Nota di credito {number} da {sender}',
    body: [
      'Buongiorno {client_name},',
      'in allegato trova la nota di credito **{number}** di **{total}** relativa alla fattura {invoice_number}.',
      'Cordiali saluti\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'abbiamo emesso la nota di credito **{number}** di **{total}** relativa alla fattura {invoice_number}.',
  },
  link: {
    subject: 'Il Suo link a {number}',
    body: ['Buongiorno {client_name},', 'ecco il Suo link a {number}:', '{link}', 'Cordiali saluti\n{sender}'].join(
      '\n\n',
    ),
  },
  answer: {
    subject: 'Risposta alla Sua domanda su {number}',
    body: [
      'Buongiorno {client_name},',
      'riguardo a {number} Lei ha chiesto:',
      '{question}',
      '**La nostra risposta:**',
      '{answer}',
      'Cordiali saluti\n{sender}',
    ].join('\n\n'),
  },
  statement: {
    subject: 'Estratto conto da {sender}: {from} – {to}',
    body: [
      'Buongiorno {client_name},',
      'in allegato trova il Suo estratto conto per il periodo {from} – {to}. Il saldo finale è di **{balance}**.',
      'Cordiali saluti\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'il Suo conto presenta un saldo finale di **{balance}** per il periodo {from} – {to}.',
  },
};
