// The texts that Billhook itself writes into the lines of a document, in the language of the account.

import { LRUCache } from 'lru-cache';
import { intlLocale } from '../../profile-forms.ts';
import { languageOf } from '../taxes/document-taxes.ts';

interface LineTexts {
  /** A line of all time, whatever the project. */
  time: string;
  /** What a quoted amount has beyond the sum of its lines. */
  adjustment: string;
  deposit: string;
  progress: string;
  /** A part of a quote that was billed before, on the final invoice. */
  billedBefore: string;
  /** What follows when that part had tax. */
  taxIncluded: string;
  /** Of a recurring invoice: hours that its fixed lines pay for. */
  includedHours: string;
  /** Takes hours off again that the client paid for in advance. */
  prepaidHours: string;
  /** What pieces of a line have more or less than the line, each rounded alone. */
  rounding: string;
  /** Of a whole quote, on its final invoice; so is the next. */
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

/** @param locale BCP 47. English where the language has no texts. */
export function lineTexts(locale: string): LineTexts {
  return TEXTS[languageOf(locale)] ?? english;
}

/** Characters of a line's text, see the input of line items. */
const TEXT_LONGEST = 2_000;
/** Characters that values add to the text of a line. Nothing behind them is left when it is cut. */
const ADDED_LONGEST = 2 * TEXT_LONGEST;

/**
 * Puts values in the place of `{name}`. A value that is missing leaves nothing, and no second blank; unknown names stay.
 * @param most characters that all values add together.
 */
export function filled(
  template: string,
  values: Readonly<Record<string, string | undefined>>,
  most = Number.POSITIVE_INFINITY,
): string {
  let room = most;
  return template
    .replaceAll(/ ?\{(\w+)\}/g, (found, key: string) => {
      const isKnown = Object.hasOwn(values, key);
      const before = found.startsWith(' ') ? ' ' : '';
      if (!isKnown) return found;
      const value = values[key]?.slice(0, room) ?? '';
      room -= value.length;
      return value ? before + value : '';
    })
    .trim();
}

/** The text of a line. A template may repeat a long value a hundred times: no more is made of it than a line shows. */
export function filledLine(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return cutToLine(filled(template, values, ADDED_LONGEST));
}

/** Joins the different texts among many, without more of them than a line shows. */
export function joinedForLine(texts: readonly string[], separator: string): string {
  const seen = new Set(['']);
  let joined = '';
  for (const text of texts) {
    const trimmed = text.trim();
    if (seen.has(trimmed)) continue;
    seen.add(trimmed);
    joined += joined ? separator + trimmed : trimmed;
    if (joined.length > ADDED_LONGEST) break;
  }
  return joined;
}

/** At most as long as a line may be; never through the middle of a character of two units. */
export function cutToLine(text: string): string {
  if (text.length <= TEXT_LONGEST) return text;
  const cut = `${text.slice(0, TEXT_LONGEST - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
  // A slice keeps the whole text in memory; this is a copy.
  return Buffer.from(cut).toString();
}

interface Formats {
  day: Intl.DateTimeFormat;
  month: Intl.DateTimeFormat;
  hours: Intl.NumberFormat;
}

/** Making one costs a hundred times what using it does, and an invoice has up to 500 lines. */
const FORMATS_MAX = 100;
const formats = new LRUCache<string, Formats>({ max: FORMATS_MAX });

function formatsOf(given: string): Formats {
  const locale = intlLocale(given);
  const known = formats.get(locale);
  if (known) return known;
  const made = {
    day: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }),
    month: new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' }),
    hours: new Intl.NumberFormat(locale, { maximumFractionDigits: 4 }),
  };
  formats.set(locale, made);
  return made;
}

/** A calendar day as the locale writes it. @param day `YYYY-MM-DD`. */
export function writtenDay(day: string, locale: string): string {
  return formatsOf(locale).day.format(new Date(`${day}T00:00:00Z`));
}

/** The name of the month of a day. @param day `YYYY-MM-DD`. */
export function writtenMonth(day: string, locale: string): string {
  return formatsOf(locale).month.format(new Date(`${day}T00:00:00Z`));
}

/** Hours as the locale writes them. @param quantity see hoursQuantity. */
export function writtenHours(quantity: string, locale: string): string {
  return formatsOf(locale).hours.format(Number(quantity));
}
