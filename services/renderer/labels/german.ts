// German.
import type { Language } from './language.ts';

export const german: Language = {
  invoice: {
    heading: 'Rechnung',
    to: 'Rechnung an',
    number: 'Rechnungsnummer',
    date: 'Rechnungsdatum',
    until: 'Zahlbar bis',
  },
  quote: {
    heading: 'Angebot',
    to: 'Angebot für',
    number: 'Angebotsnummer',
    date: 'Angebotsdatum',
    until: 'Gültig bis',
  },
  from: 'Von',
  poNumber: 'Bestellnummer',
  description: 'Beschreibung',
  qty: 'Menge',
  rate: 'Einzelpreis',
  amount: 'Betrag',
  subtotal: 'Zwischensumme',
  discount: 'Rabatt',
  tax: (rate) => `MwSt. (${rate})`,
  shipping: 'Versand',
  total: 'Gesamtbetrag',
  paid: 'Bezahlt',
  amountDue: 'Offener Betrag',
  // The number of the Union begins with a country, the one of the tax office with a digit.
  taxId: (id) => (/^[A-Z]{2}/i.test(id) ? `USt-IdNr. ${id}` : `Steuernummer ${id}`),
  bankDetails: 'Bankverbindung',
  notes: 'Anmerkungen',
  terms: 'Geschäftsbedingungen',
  acceptedBy: 'Angenommen von',
  signature: 'Unterschrift',
  name: 'Name',
  signedOn: 'Datum',
  marks: { draft: 'Entwurf', paid: 'Bezahlt', cancelled: 'Storniert' },
};
