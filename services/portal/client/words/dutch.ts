// The words of the client's pages in Dutch.
import { dutch as answers } from './answers/dutch.ts';
import type { PageWords } from './page-words.ts';

export const dutch: PageWords = {
  states: {
    open: 'Openstaand',
    overdue: 'Te laat',
    partly_paid: 'Deels betaald',
    paid: 'Betaald',
    cancelled: 'Geannuleerd',
    written_off: 'Afgeboekt',
    to_accept: 'Openstaand',
    accepted: 'Geaccepteerd',
    declined: 'Afgewezen',
    expired: 'Verlopen',
  },
  due: 'Openstaand bedrag',
  download: 'PDF downloaden',
  movements: 'Betalingen en creditnota’s',
  payment: 'Betaling',
  credit: 'Creditering',
  more: 'Alleen de nieuwste worden getoond.',
  back: 'Terug',
  documents: 'Openstaande documenten',
  nothingOpen: 'Er staat op dit moment niets open.',
  next: 'Volgende',
  previous: 'Vorige',
  preview: 'Voorbeeld: dit bezoek wordt niet geteld.',
  expired: {
    title: 'Deze link is verlopen',
    text: 'Voor uw veiligheid zijn links beperkt geldig. Een nieuwe link gaat naar het adres waar deze naartoe is gestuurd.',
    button: 'Stuur mij een nieuwe link',
  },
  done: {
    renewed: 'Er is een nieuwe link onderweg. Kijk over enkele minuten in uw mailbox.',
    accepted: 'Dank u. U hebt de offerte aanvaard.',
    declined: 'U hebt de offerte afgewezen.',
    promised: 'Dank u. We hebben de dag genoteerd.',
    asked: 'Uw vraag is verstuurd.',
  },
  problems: {
    notOffered: 'Dit kan niet meer. De pagina toont de huidige stand.',
    expiredForm: 'De pagina was verouderd en er is niets gewijzigd. Probeer het opnieuw.',
    unavailable: 'Dit lukt op dit moment niet. Probeer het over enkele minuten opnieuw.',
  },
  answers,
  questions: (email) => `Vragen? Schrijf naar ${email}.`,
};
