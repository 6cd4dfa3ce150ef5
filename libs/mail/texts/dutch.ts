// The words of mails in Dutch.
import type { MailTexts } from './mail-texts.ts';

export const dutch: MailTexts = {
  invoice: {
    subject: 'Factuur {number} van {sender}',
    body: [
      'Beste {client_name},',
      'in de bijlage vindt u factuur **{number}** van {date} voor een bedrag van **{total}**. Wij ontvangen graag {amount_due} uiterlijk op {due_date}.',
      'Hartelijk dank en vriendelijke groet\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'wij hebben factuur **{number}** van {date} voor een bedrag van **{total}** opgemaakt. Wij ontvangen graag {amount_due} uiterlijk op {due_date}.',
  },
  quote: {
    subject: 'Offerte {number} van {sender}',
    body: [
      'Beste {client_name},',
      'in de bijlage vindt u onze offerte **{number}** voor een bedrag van **{total}**. De offerte is geldig tot en met {valid_until}.',
      'Wij horen graag van u. Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'wij hebben voor u offerte **{number}** voor een bedrag van **{total}** opgesteld. De offerte is geldig tot en met {valid_until}.',
  },
  reminder_1: {
    subject: 'Herinnering: factuur {number}',
    body: [
      'Beste {client_name},',
      'graag herinneren wij u aan factuur **{number}** van {date}: **{amount_due}** vervalt op {due_date}.',
      'Hebt u intussen betaald, dan kunt u dit bericht als niet verzonden beschouwen. Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
  },
  reminder_2: {
    subject: 'Factuur {number} is vervallen',
    body: [
      'Beste {client_name},',
      'de vervaldatum van factuur **{number}** van {date} was {due_date}, en **{amount_due}** staat nog open. Wilt u het bedrag in de komende dagen betalen?',
      'Hebt u intussen betaald, dan kunt u dit bericht als niet verzonden beschouwen. Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
  },
  reminder_3: {
    subject: 'Tweede herinnering: factuur {number}',
    body: [
      'Beste {client_name},',
      'wij hebben **{amount_due}** voor factuur **{number}**, vervallen op {due_date}, nog niet ontvangen. Wilt u nu betalen, of ons laten weten of er iets onduidelijk is?',
      'Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
  },
  reminder_4: {
    subject: 'Derde herinnering: factuur {number}',
    body: [
      'Beste {client_name},',
      'ondanks onze herinneringen staat **{amount_due}** van factuur **{number}**, vervallen op {due_date}, nog open. Wij verzoeken u binnen zeven dagen te betalen.',
      'Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
  },
  reminder_5: {
    subject: 'Laatste herinnering: factuur {number}',
    body: [
      'Beste {client_name},',
      'dit is onze laatste herinnering aan factuur **{number}**, vervallen op {due_date}. **{amount_due}** staat nog open. Wilt u nu betalen, zodat verdere stappen niet nodig zijn?',
      'Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
  },
  receipt: {
    subject: 'Hartelijk dank voor uw betaling, {number}',
    body: [
      'Beste {client_name},',
      'hartelijk dank voor uw betaling van **{total}** van {date}. Het betalingsbewijs **{number}** is bijgevoegd.',
      'Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'hartelijk dank voor uw betaling van **{total}** van {date}. Het betalingsbewijs heeft nummer **{number}**.',
  },
  credit_note: {
    subject: 'Creditnota {number} van {sender}',
    body: [
      'Beste {client_name},',
      'in de bijlage vindt u creditnota **{number}** voor een bedrag van **{total}** op factuur {invoice_number}.',
      'Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'wij hebben creditnota **{number}** voor een bedrag van **{total}** op factuur {invoice_number} opgemaakt.',
  },
  link: {
    subject: 'Uw link naar {number}',
    body: ['Beste {client_name},', 'hier is uw link naar {number}:', '{link}', 'Met vriendelijke groet\n{sender}'].join(
      '\n\n',
    ),
  },
  answer: {
    subject: 'Antwoord op uw vraag over {number}',
    body: [
      'Beste {client_name},',
      'u vroeg over {number}:',
      '{question}',
      '**Ons antwoord:**',
      '{answer}',
      'Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
  },
  statement: {
    subject: 'Rekeningoverzicht van {sender}: {from} – {to}',
    body: [
      'Beste {client_name},',
      'in de bijlage vindt u uw rekeningoverzicht van {from} tot en met {to}. Het eindsaldo is **{balance}**.',
      'Met vriendelijke groet\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'uw rekening sluit over de periode van {from} tot en met {to} met een saldo van **{balance}**.',
  },
};
