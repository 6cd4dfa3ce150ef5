// The words of a client's answers in Italian.
import type { AnswerWords } from './answer-words.ts';

export const italian: AnswerWords = {
  accept: {
    title: 'Accettare questo preventivo',
    name: 'Il Suo nome completo',
    order: 'Il Suo numero d’ordine (facoltativo)',
    draw: 'Disegni la Sua firma (facoltativo)',
    clear: 'Cancellare',
    agree: (quote, total) => `Accetto ${quote} per ${total} e le relative condizioni.`,
    button: 'Accettare con obbligo di pagamento',
  },
  decline: {
    title: 'Rifiutare',
    reason: 'Motivo (facoltativo)',
    confirm: 'Non desidero questo preventivo.',
    button: 'Rifiutare il preventivo',
  },
  promise: { title: 'Ci dica quando pagherà', day: 'Pagherò il', button: 'Confermare questo giorno' },
  ask: {
    title: 'Fare una domanda',
    text: 'La Sua domanda',
    line: 'Riguardo a',
    noLine: 'tutto il documento',
    button: 'Inviare la domanda',
  },
  askForNew: 'Questo preventivo è scaduto. Ne chieda uno nuovo',
  said: {
    accepted: (name, day) => `Accettato da ${name} il ${day}.`,
    changedSince: (day) =>
      `Una versione precedente di questo preventivo è stata accettata il ${day}. Da allora è stato modificato.`,
    promised: (day) => `Lei ha annunciato il pagamento per il ${day}.`,
    questions: 'Le Sue domande',
    waiting: 'Non ancora risposto.',
    answer: 'Risposta',
  },
  problems: {
    name: 'Scriva il Suo nome completo.',
    agree: 'Spunti la casella per accettare.',
    order: 'Il numero d’ordine ha al massimo 200 caratteri.',
    drawn: 'La firma disegnata non è leggibile. La disegni di nuovo oppure la ometta.',
    confirm: 'Spunti la casella se non desidera il preventivo.',
    reason: 'Il motivo ha al massimo 1.000 caratteri.',
    changed: 'Il preventivo è stato modificato nel frattempo. Lo rilegga prima di accettarlo.',
    expired: 'Il preventivo è scaduto. Ne chieda uno nuovo.',
    day: (first, last) => `Scelga un giorno dal ${first} al ${last}.`,
    promises: 'Ha già indicato un giorno due volte. Ci scriva, per favore.',
    text: 'Scriva una domanda di al massimo 2.000 caratteri.',
    questions: 'Attenda le risposte alle altre domande.',
  },
};
