// The words of mails in French.
import type { MailTexts } from './mail-texts.ts';

export const french: MailTexts = {
  invoice: {
    subject: 'Facture {number} de {sender}',
    body: [
      'Bonjour {client_name},',
      'veuillez trouver ci-joint la facture **{number}** du {date} d’un montant de **{total}**. {amount_due} sont à régler au plus tard le {due_date}.',
      'Avec nos remerciements et nos cordiales salutations\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'nous avons établi la facture **{number}** du {date} d’un montant de **{total}**. {amount_due} sont à régler au plus tard le {due_date}.',
  },
  quote: {
    subject: 'Devis {number} de {sender}',
    body: [
      'Bonjour {client_name},',
      'veuillez trouver ci-joint notre devis **{number}** d’un montant de **{total}**. Il est valable jusqu’au {valid_until}.',
      'Dans l’attente de votre réponse, cordialement\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'nous avons établi pour vous le devis **{number}** d’un montant de **{total}**. Il est valable jusqu’au {valid_until}.',
  },
  reminder_1: {
    subject: 'Rappel : facture {number}',
    body: [
      'Bonjour {client_name},',
      'nous nous permettons de vous rappeler la facture **{number}** du {date} : **{amount_due}** sont à régler le {due_date}.',
      'Si vous avez payé entre-temps, merci de ne pas tenir compte de ce message. Cordialement\n{sender}',
    ].join('\n\n'),
  },
  reminder_2: {
    subject: 'La facture {number} est échue',
    body: [
      'Bonjour {client_name},',
      'la facture **{number}** du {date} était payable le {due_date}, et **{amount_due}** restent à régler. Merci de procéder au paiement dans les prochains jours.',
      'Si vous avez payé entre-temps, merci de ne pas tenir compte de ce message. Cordialement\n{sender}',
    ].join('\n\n'),
  },
  reminder_3: {
    subject: 'Deuxième rappel : facture {number}',
    body: [
      'Bonjour {client_name},',
      'nous n’avons pas encore reçu **{amount_due}** pour la facture **{number}**, échue le {due_date}. Merci de la régler maintenant, ou de nous dire si quelque chose n’est pas clair.',
      'Cordialement\n{sender}',
    ].join('\n\n'),
  },
  reminder_4: {
    subject: 'Troisième rappel : facture {number}',
    body: [
      'Bonjour {client_name},',
      'malgré nos rappels, **{amount_due}** de la facture **{number}**, échue le {due_date}, restent impayés. Merci de procéder au paiement sous sept jours.',
      'Cordialement\n{sender}',
    ].join('\n\n'),
  },
  reminder_5: {
    subject: 'Dernier rappel : facture {number}',
    body: [
      'Bonjour {client_name},',
      'ceci est notre dernier rappel pour la facture **{number}**, échue le {due_date}. **{amount_due}** restent impayés. Merci de régler cette somme maintenant, afin d’éviter d’autres démarches.',
      'Cordialement\n{sender}',
    ].join('\n\n'),
  },
  receipt: {
    subject: 'Merci pour votre paiement, {number}',
    body: [
      'Bonjour {client_name},',
      'merci pour votre paiement de **{total}** du {date}. Vous trouverez ci-joint le reçu **{number}**.',
      'Cordialement\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'merci pour votre paiement de **{total}** du {date}. Le reçu porte le numéro **{number}**.',
  },
  credit_note: {
    subject: 'Avoir {number} de {sender}',
    body: [
      'Bonjour {client_name},',
      'veuillez trouver ci-joint l’avoir **{number}** d’un montant de **{total}** sur la facture {invoice_number}.',
      'Cordialement\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'nous avons établi l’avoir **{number}** d’un montant de **{total}** sur la facture {invoice_number}.',
  },
  link: {
    subject: 'Votre lien vers {number}',
    body: ['Bonjour {client_name},', 'voici votre lien vers {number} :', '{link}', 'Cordialement\n{sender}'].join(
      '\n\n',
    ),
  },
  answer: {
    subject: 'Réponse à votre question sur {number}',
    body: [
      'Bonjour {client_name},',
      'vous nous avez demandé au sujet de {number} :',
      '{question}',
      '**Notre réponse :**',
      '{answer}',
      'Cordialement\n{sender}',
    ].join('\n\n'),
  },
  statement: {
    subject: 'Relevé de compte de {sender} : {from} – {to}',
    body: [
      'Bonjour {client_name},',
      'veuillez trouver ci-joint votre relevé de compte du {from} au {to}. Le solde final est de **{balance}**.',
      'Cordialement\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'votre compte présente un solde final de **{balance}** pour la période du {from} au {to}.',
  },
};
