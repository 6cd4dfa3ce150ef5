// The texts that Billhook itself writes into the lines of a document, in the language of the account.
import { languageOf } from '../taxes/document-taxes.ts';

interface LineTexts {
  /** The text of a line that bills all time of a client, whatever the project. */
  time: string;
  /** The text of the line that makes up the difference between a quoted amount and the sum of its lines. */
  adjustment: string;
  deposit: string;
  progress: string;
  /** The text of a part of a quote that was billed before, on the final invoice. */
  billedBefore: string;
  /** The text after `billedBefore` where that part had tax. */
  taxIncluded: string;
  /** The hours that the fixed lines of a recurring invoice pay for. */
  includedHours: string;
  /** The text of the line that takes off hours that the client paid for in advance. */
  prepaidHours: string;
  /** The text of the line that makes up for pieces of a line which were rounded one by one. */
  rounding: string;
  /** The discount and the shipping of a whole quote, on its final invoice. */
  discount: string;
  shipping: string;
}

const english: LineTexts = {
  time: 'Work from {from} to {to}',
  adjustment: 'Adjustment to the quoted amount',
  deposit: 'Deposit {share} for {quote}',
  progress: 'Progress payment {share} for {quote}',
  billedBefore: 'Less {invoice} of {date}',
  taxIncluded: 'tax contained in it: {tax}',
  includedHours: 'Included hours',
  prepaidHours: 'Prepaid hours: {packages}',
  rounding: 'Rounding',
  discount: 'Discount',
  shipping: 'Shipping',
};

const TEXTS: Readonly<Record<string, LineTexts>> = {
  en: english,
  de: {
    time: 'Arbeiten vom {from} bis {to}',
    adjustment: 'Anpassung an die Angebotssumme',
    deposit: 'Anzahlung {share} zu {quote}',
    progress: 'Abschlagszahlung {share} zu {quote}',
    billedBefore: 'Abzüglich {invoice} vom {date}',
    taxIncluded: 'darin enthaltene Steuer: {tax}',
    includedHours: 'Inklusivstunden',
    prepaidHours: 'Vorausbezahlte Stunden: {packages}',
    rounding: 'Rundung',
    discount: 'Rabatt',
    shipping: 'Versand',
  },
  fr: {
    time: 'Travaux du {from} au {to}',
    adjustment: 'Ajustement au montant du devis',
    deposit: 'Acompte {share} sur {quote}',
    progress: 'Situation {share} sur {quote}',
    billedBefore: 'Déduction de {invoice} du {date}',
    taxIncluded: 'taxe comprise : {tax}',
    includedHours: 'Heures incluses',
    prepaidHours: 'Heures prépayées : {packages}',
    rounding: 'Arrondi',
    discount: 'Remise',
    shipping: 'Livraison',
  },
  es: {
    time: 'Trabajos del {from} al {to}',
    adjustment: 'Ajuste al importe presupuestado',
    deposit: 'Anticipo {share} de {quote}',
    progress: 'Pago parcial {share} de {quote}',
    billedBefore: 'Menos {invoice} del {date}',
    taxIncluded: 'impuesto incluido: {tax}',
    includedHours: 'Horas incluidas',
    prepaidHours: 'Horas prepagadas: {packages}',
    rounding: 'Redondeo',
    discount: 'Descuento',
    shipping: 'Envío',
  },
  it: {
    time: 'Lavori dal {from} al {to}',
    adjustment: 'Adeguamento all’importo del preventivo',
    deposit: 'Acconto {share} su {quote}',
    progress: 'Stato di avanzamento {share} su {quote}',
    billedBefore: 'A detrarre {invoice} del {date}',
    taxIncluded: 'imposta compresa: {tax}',
    includedHours: 'Ore incluse',
    prepaidHours: 'Ore prepagate: {packages}',
    rounding: 'Arrotondamento',
    discount: 'Sconto',
    shipping: 'Spedizione',
  },
  pt: {
    time: 'Trabalhos de {from} a {to}',
    adjustment: 'Ajuste ao valor do orçamento',
    deposit: 'Adiantamento {share} de {quote}',
    progress: 'Pagamento parcial {share} de {quote}',
    billedBefore: 'Menos {invoice} de {date}',
    taxIncluded: 'imposto incluído: {tax}',
    includedHours: 'Horas incluídas',
    prepaidHours: 'Horas pré-pagas: {packages}',
    rounding: 'Arredondamento',
    discount: 'Desconto',
    shipping: 'Envio',
  },
  nl: {
    time: 'Werkzaamheden van {from} tot en met {to}',
    adjustment: 'Aanpassing aan het geoffreerde bedrag',
    deposit: 'Aanbetaling {share} voor {quote}',
    progress: 'Tussentijdse betaling {share} voor {quote}',
    billedBefore: 'Af: {invoice} van {date}',
    taxIncluded: 'btw daarin begrepen: {tax}',
    includedHours: 'Inbegrepen uren',
    prepaidHours: 'Vooruitbetaalde uren: {packages}',
    rounding: 'Afronding',
    discount: 'Korting',
    shipping: 'Verzending',
  },
  ja: {
    time: '作業 {from}～{to}',
    adjustment: '見積金額への調整',
    deposit: '{quote} 手付金 {share}',
    progress: '{quote} 中間金 {share}',
    billedBefore: '{date} {invoice} 控除',
    taxIncluded: '内税額 {tax}',
    includedHours: '基本料金に含まれる時間',
    prepaidHours: '前払い時間：{packages}',
    rounding: '端数調整',
    discount: '値引き',
    shipping: '送料',
  },
  ar: {
    time: 'أعمال من {from} إلى {to}',
    adjustment: 'تعديل إلى مبلغ عرض السعر',
    deposit: 'دفعة مقدمة {share} عن {quote}',
    progress: 'دفعة مرحلية {share} عن {quote}',
    billedBefore: 'ناقص {invoice} بتاريخ {date}',
    taxIncluded: 'الضريبة المشمولة: {tax}',
    includedHours: 'ساعات مشمولة',
    prepaidHours: 'ساعات مدفوعة مسبقًا: {packages}',
    rounding: 'تقريب',
    discount: 'الخصم',
    shipping: 'الشحن',
  },
};

/** Returns the texts of a language, or the English ones where Billhook has none. @param locale BCP 47. */
export function lineTexts(locale: string): LineTexts {
  return TEXTS[languageOf(locale)] ?? english;
}
