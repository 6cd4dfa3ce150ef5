// German.
import type { Language } from './language.ts';

/** What a number of the Union begins with: its members (Greece as EL), and Northern Ireland. */
const UNION = /^(?:AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GR|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK|XI)/i;

export const german: Language = {
  invoice: {
    heading: 'Rechnung',
    to: 'Rechnung an',
    date: 'Rechnungsdatum',
    until: 'Zahlbar bis',
    onDay: (day) => `fällig am ${day}`,
  },
  quote: {
    heading: 'Angebot',
    to: 'Angebot für',
    date: 'Angebotsdatum',
    until: 'Gültig bis',
    onDay: (day) => `gültig bis ${day}`,
  },
  from: 'Von',
  poNumber: 'Bestellnummer',
  serviceDate: 'Leistungsdatum',
  servicePeriod: 'Leistungszeitraum',
  description: 'Beschreibung',
  qty: 'Menge',
  rate: 'Einzelpreis',
  amount: 'Betrag',
  subtotal: 'Zwischensumme',
  discount: 'Rabatt',
  adjustment: 'Anpassung',
  taxable: 'Nettobetrag',
  tax: (rate) => `MwSt. (${rate})`,
  shipping: 'Versand',
  total: 'Gesamtbetrag',
  paid: 'Bezahlt',
  amountDue: 'Offener Betrag',
  settled: { paid: 'bezahlt', cancelled: 'storniert' },
  // The number of a tax office, or of a country that is no member.
  taxId: (id) => (UNION.test(id) ? `USt-IdNr. ${id}` : `Steuernummer ${id}`),
  bankDetails: 'Bankverbindung',
  notes: 'Anmerkungen',
  terms: 'Geschäftsbedingungen',
  acceptedBy: 'Angenommen von',
  signature: 'Unterschrift',
  name: 'Name',
  signedOn: 'Datum',
  marks: { draft: 'Entwurf', paid: 'Bezahlt', cancelled: 'Storniert' },
  testMark: 'TEST',
};
