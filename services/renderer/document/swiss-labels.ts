// The words of a Swiss QR-bill, which its standard gives in four languages.

export interface SwissLabels {
  receipt: string;
  paymentPart: string;
  account: string;
  reference: string;
  additional: string;
  payableBy: string;
  /** The label of the empty field for name and address. */
  payableByField: string;
  currency: string;
  amount: string;
  acceptance: string;
}

const english: SwissLabels = {
  receipt: 'Receipt',
  paymentPart: 'Payment part',
  account: 'Account / Payable to',
  reference: 'Reference',
  additional: 'Additional information',
  payableBy: 'Payable by',
  payableByField: 'Payable by (name/address)',
  currency: 'Currency',
  amount: 'Amount',
  acceptance: 'Acceptance point',
};

const LABELS: Record<string, SwissLabels> = {
  en: english,
  de: {
    receipt: 'Empfangsschein',
    paymentPart: 'Zahlteil',
    account: 'Konto / Zahlbar an',
    reference: 'Referenz',
    additional: 'Zusätzliche Informationen',
    payableBy: 'Zahlbar durch',
    payableByField: 'Zahlbar durch (Name/Adresse)',
    currency: 'Währung',
    amount: 'Betrag',
    acceptance: 'Annahmestelle',
  },
  fr: {
    receipt: 'Récépissé',
    paymentPart: 'Section paiement',
    account: 'Compte / Payable à',
    reference: 'Référence',
    additional: 'Informations supplémentaires',
    payableBy: 'Payable par',
    payableByField: 'Payable par (nom/adresse)',
    currency: 'Monnaie',
    amount: 'Montant',
    acceptance: 'Point de dépôt',
  },
  it: {
    receipt: 'Ricevuta',
    paymentPart: 'Sezione pagamento',
    account: 'Conto / Pagabile a',
    reference: 'Riferimento',
    additional: 'Informazioni supplementari',
    payableBy: 'Pagabile da',
    payableByField: 'Pagabile da (nome/indirizzo)',
    currency: 'Valuta',
    amount: 'Importo',
    acceptance: 'Punto di accettazione',
  },
};

/** Returns the words in the language of a document, else in English. */
export function swissLabelsOf(language: string): { language: string; labels: SwissLabels } {
  const [spoken = ''] = language.split('-');
  const labels = LABELS[spoken];
  return labels ? { language: spoken, labels } : { language: 'en', labels: english };
}
