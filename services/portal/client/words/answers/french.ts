// The words of a client's answers in French.
import type { AnswerWords } from './answer-words.ts';

export const french: AnswerWords = {
  accept: {
    title: 'Accepter ce devis',
    name: 'Votre nom complet',
    order: 'Votre numéro de commande (facultatif)',
    draw: 'Dessinez votre signature (facultatif)',
    clear: 'Effacer',
    agree: (quote, total) => `J’accepte ${quote} d’un montant de ${total} et ses conditions.`,
    button: 'Accepter avec obligation de paiement',
  },
  decline: {
    title: 'Refuser',
    reason: 'Motif (facultatif)',
    confirm: 'Je ne souhaite pas ce devis.',
    button: 'Refuser le devis',
  },
  promise: { title: 'Dites-nous quand vous paierez', day: 'Je paierai le', button: 'Confirmer ce jour' },
  ask: {
    title: 'Poser une question',
    text: 'Votre question',
    line: 'Au sujet de',
    noLine: 'tout le document',
    button: 'Envoyer la question',
  },
  askForNew: 'Ce devis a expiré. Demandez-en un nouveau',
  said: {
    accepted: (name, day) => `Accepté par ${name} le ${day}.`,
    changedSince: (day) => `Une version antérieure de ce devis a été acceptée le ${day}. Il a été modifié depuis.`,
    promised: (day) => `Vous avez annoncé un paiement le ${day}.`,
    questions: 'Vos questions',
    waiting: 'Pas encore de réponse.',
    answer: 'Réponse',
  },
  problems: {
    name: 'Veuillez saisir votre nom complet.',
    agree: 'Veuillez cocher votre accord.',
    order: 'Le numéro de commande compte au plus 200 caractères.',
    drawn: 'La signature dessinée est illisible. Veuillez la redessiner ou l’omettre.',
    confirm: 'Veuillez cocher que vous ne souhaitez pas ce devis.',
    reason: 'Le motif compte au plus 1 000 caractères.',
    changed: 'Le devis a été modifié entre-temps. Veuillez le relire avant de l’accepter.',
    expired: 'Le devis a expiré. Veuillez en demander un nouveau.',
    day: (first, last) => `Veuillez choisir un jour entre le ${first} et le ${last}.`,
    promises: 'Vous avez déjà indiqué un jour deux fois. Veuillez nous écrire.',
    text: 'Veuillez écrire une question de 2 000 caractères au plus.',
    questions: 'Veuillez attendre les réponses à vos autres questions.',
  },
};
