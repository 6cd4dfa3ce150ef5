// Italian.
import type { Language } from './language.ts';

/** The eighth and the eleventh begin with a vowel: l’8 dicembre. */
const isElided = (day: string) => /^(?:8|11) /.test(day);

export const italian: Language = {
  invoice: {
    heading: 'Fattura',
    to: 'Intestata a',
    date: 'Data di emissione',
    until: 'Scadenza',
    onDay: (day) => `da pagare entro ${isElided(day) ? 'l’' : 'il '}${day}`,
  },
  quote: {
    heading: 'Preventivo',
    to: 'Preparato per',
    date: 'Data',
    until: 'Valido fino al',
    onDay: (day) => `valido fino ${isElided(day) ? 'all’' : 'al '}${day}`,
  },
  from: 'Da',
  poNumber: 'Ordine d’acquisto',
  serviceDate: 'Data della prestazione',
  servicePeriod: 'Periodo della prestazione',
  description: 'Descrizione',
  qty: 'Q.tà',
  rate: 'Prezzo',
  amount: 'Importo',
  subtotal: 'Imponibile',
  discount: 'Sconto',
  adjustment: 'Rettifica',
  taxable: 'Base imponibile',
  tax: (rate) => `IVA (${rate})`,
  shipping: 'Spedizione',
  total: 'Totale',
  paid: 'Pagato',
  amountDue: 'Importo dovuto',
  settled: { paid: 'pagato', cancelled: 'annullato' },
  taxId: (id) => `P. IVA ${id}`,
  bankDetails: 'Coordinate bancarie',
  notes: 'Note',
  terms: 'Termini e condizioni',
  acceptedBy: 'Accettato da',
  signature: 'Firma',
  name: 'Nome',
  signedOn: 'Data',
  marks: { draft: 'Bozza', paid: 'Pagata', cancelled: 'Annullata' },
  testMark: 'PROVA',
};
