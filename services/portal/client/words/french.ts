// The words of the client's pages in French.
import { french as answers } from './answers/french.ts';
import type { PageWords } from './page-words.ts';

export const french: PageWords = {
  states: {
    open: 'À payer',
    overdue: 'En retard',
    partly_paid: 'Partiellement payée',
    paid: 'Payée',
    cancelled: 'Annulée',
    written_off: 'Passée en perte',
    to_accept: 'En attente',
    accepted: 'Accepté',
    declined: 'Refusé',
    expired: 'Expiré',
  },
  due: 'Montant dû',
  download: 'Télécharger le PDF',
  movements: 'Paiements et avoirs',
  payment: 'Paiement',
  credit: 'Avoir',
  more: 'Seuls les plus récents sont affichés.',
  back: 'Retour',
  documents: 'Documents en cours',
  nothingOpen: 'Rien n’est en attente pour le moment.',
  next: 'Suivant',
  previous: 'Précédent',
  preview: 'Aperçu : cette visite n’est pas comptée.',
  expired: {
    title: 'Ce lien a expiré',
    text: 'Pour votre sécurité, les liens ont une durée limitée. Un nouveau lien sera envoyé à l’adresse qui a reçu celui-ci.',
    button: 'M’envoyer un nouveau lien',
  },
  done: {
    renewed: 'Un nouveau lien est en route. Veuillez consulter votre messagerie dans quelques minutes.',
    accepted: 'Merci. Vous avez accepté le devis.',
    declined: 'Vous avez refusé le devis.',
    promised: 'Merci. Nous avons noté le jour.',
    asked: 'Votre question a été envoyée.',
  },
  problems: {
    notOffered: 'Ce n’est plus possible. La page montre l’état actuel.',
    expiredForm: 'La page n’était plus à jour et rien n’a été modifié. Veuillez réessayer.',
    unavailable: 'Ce n’est pas possible pour le moment. Veuillez réessayer dans quelques minutes.',
  },
  answers,
  questions: (email) => `Des questions ? Écrivez à ${email}.`,
};
