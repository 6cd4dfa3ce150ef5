// The words of mails in English.
import type { MailTexts } from './mail-texts.ts';

export const english: MailTexts = {
  invoice: {
    subject: 'Invoice {number} from {sender}',
    body: [
      'Hello {client_name},',
      'please find attached invoice **{number}** of {date} over **{total}**. {amount_due} is due on {due_date}.',
      'Thank you, and kind regards\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'we have issued invoice **{number}** of {date} over **{total}**. {amount_due} is due on {due_date}.',
  },
  quote: {
    subject: 'Quote {number} from {sender}',
    body: [
      'Hello {client_name},',
      'please find attached our quote **{number}** over **{total}**. It is valid until {valid_until}.',
      'We look forward to hearing from you. Kind regards\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'we have written quote **{number}** over **{total}** for you. It is valid until {valid_until}.',
  },
  reminder_1: {
    subject: 'Reminder: invoice {number}',
    body: [
      'Hello {client_name},',
      'this is a friendly reminder of invoice **{number}** of {date}: **{amount_due}** is due on {due_date}.',
      'If you have paid in the meantime, please ignore this mail. Kind regards\n{sender}',
    ].join('\n\n'),
  },
  reminder_2: {
    subject: 'Invoice {number} is due',
    body: [
      'Hello {client_name},',
      'invoice **{number}** of {date} was due on {due_date}, and **{amount_due}** is still open. Please pay it in the next few days.',
      'If you have paid in the meantime, please ignore this mail. Kind regards\n{sender}',
    ].join('\n\n'),
  },
  reminder_3: {
    subject: 'Second reminder: invoice {number}',
    body: [
      'Hello {client_name},',
      'we have not yet received **{amount_due}** for invoice **{number}**, which was due on {due_date}. Please pay it now, or tell us if something is unclear.',
      'Kind regards\n{sender}',
    ].join('\n\n'),
  },
  reminder_4: {
    subject: 'Third reminder: invoice {number}',
    body: [
      'Hello {client_name},',
      'despite our reminders, **{amount_due}** for invoice **{number}** is still open. It was due on {due_date}. Please pay it within seven days.',
      'Kind regards\n{sender}',
    ].join('\n\n'),
  },
  reminder_5: {
    subject: 'Final reminder: invoice {number}',
    body: [
      'Hello {client_name},',
      'this is our final reminder of invoice **{number}**, which was due on {due_date}. **{amount_due}** is still open. Please pay it now, so that no further steps are necessary.',
      'Kind regards\n{sender}',
    ].join('\n\n'),
  },
  receipt: {
    subject: 'Thank you for your payment, {number}',
    body: [
      'Hello {client_name},',
      'thank you for your payment of **{total}** of {date}. Your receipt **{number}** is attached.',
      'Kind regards\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'thank you for your payment of **{total}** of {date}. Its receipt has the number **{number}**.',
  },
  credit_note: {
    subject: 'Credit note {number} from {sender}',
    body: [
      'Hello {client_name},',
      'please find attached credit note **{number}** over **{total}** for invoice {invoice_number}.',
      'Kind regards\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'we have issued credit note **{number}** over **{total}** for invoice {invoice_number}.',
  },
  link: {
    subject: 'Your link to {number}',
    body: ['Hello {client_name},', 'here is your link to {number}:', '{link}', 'Kind regards\n{sender}'].join('\n\n'),
  },
  answer: {
    subject: 'Answer to your question about {number}',
    body: [
      'Hello {client_name},',
      'you asked about {number}:',
      '{question}',
      '**Our answer:**',
      '{answer}',
      'Kind regards\n{sender}',
    ].join('\n\n'),
  },
  statement: {
    subject: 'Statement of account from {sender}: {from} – {to}',
    body: [
      'Hello {client_name},',
      'please find attached your statement of account from {from} to {to}. The closing balance is **{balance}**.',
      'Kind regards\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'your account closes with a balance of **{balance}** for the time from {from} to {to}.',
  },
};
