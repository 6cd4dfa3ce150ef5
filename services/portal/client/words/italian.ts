// The words of the client's pages in Italian.
import { italian as answers } from './answers/italian.ts';
import type { PageWords } from './page-words.ts';

export const italian: PageWords = {
  states: {
    open: 'Da pagare',
    overdue: 'Scaduta',
    partly_paid: 'Pagata in parte',
    paid: 'Pagata',
    cancelled: 'Annullata',
    written_off: 'Stralciata',
    to_accept: 'In attesa',
    accepted: 'Accettato',
    declined: 'Rifiutato',
    expired: 'Scaduto',
  },
  due: 'Importo dovuto',
  download: 'Scarica il PDF',
  movements: 'Pagamenti e accrediti',
  payment: 'Pagamento',
  credit: 'Accredito',
  more: 'Sono mostrati solo i più recenti.',
  back: 'Indietro',
  documents: 'Documenti aperti',
  nothingOpen: 'Al momento non c’è nulla di aperto.',
  next: 'Avanti',
  previous: 'Indietro',
  preview: 'Anteprima: questa visita non viene contata.',
  expired: {
    title: 'Questo link è scaduto',
    text: 'Per la Sua sicurezza i link sono validi per un tempo limitato. Un nuovo link sarà inviato all’indirizzo che ha ricevuto questo.',
    button: 'Inviami un nuovo link',
  },
  done: {
    renewed: 'Un nuovo link è in arrivo. Controlli la posta tra qualche minuto.',
    accepted: 'Grazie. Ha accettato il preventivo.',
    declined: 'Ha rifiutato il preventivo.',
    promised: 'Grazie. Abbiamo annotato il giorno.',
    asked: 'La Sua domanda è stata inviata.',
  },
  problems: {
    notOffered: 'Non è più possibile. La pagina mostra lo stato attuale.',
    expiredForm: 'La pagina non era aggiornata e nulla è stato modificato. Riprovi.',
    unavailable: 'Al momento non è possibile. Riprovi tra qualche minuto.',
  },
  answers,
  questions: (email) => `Domande? Scriva a ${email}.`,
};
