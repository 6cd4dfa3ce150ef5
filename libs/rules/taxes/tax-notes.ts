// The reasons for charging no tax, in the words that the law requires and in the language of the document.
import type { TaxCategory } from './tax-groups.ts';

/** Category S has tax, and Z needs no reason. */
type NotedCategory = Exclude<TaxCategory, 'S' | 'Z'>;

const english: Record<NotedCategory, string> = {
  AE: 'Reverse charge: the recipient accounts for the VAT',
  K: 'Intra-Community supply, exempt from VAT',
  G: 'Export, exempt from VAT',
  E: 'Exempt from tax',
  O: 'Outside the scope of tax',
};

const NOTES: Readonly<Record<string, Record<NotedCategory, string>>> = {
  en: english,
  de: {
    AE: 'Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge)',
    K: 'Steuerfreie innergemeinschaftliche Lieferung',
    G: 'Steuerfreie Ausfuhrlieferung',
    E: 'Steuerfreie Leistung',
    O: 'Nicht steuerbare Leistung',
  },
  fr: {
    AE: 'Autoliquidation : TVA due par le preneur',
    K: 'Livraison intracommunautaire exonérée de TVA',
    G: 'Exportation exonérée de TVA',
    E: 'Opération exonérée de TVA',
    O: 'Hors du champ d’application de la TVA',
  },
  es: {
    AE: 'Inversión del sujeto pasivo',
    K: 'Entrega intracomunitaria exenta de IVA',
    G: 'Exportación exenta de IVA',
    E: 'Operación exenta de IVA',
    O: 'Operación no sujeta a IVA',
  },
  it: {
    AE: 'Inversione contabile',
    K: 'Cessione intracomunitaria non imponibile',
    G: 'Cessione all’esportazione non imponibile',
    E: 'Operazione esente da IVA',
    O: 'Operazione fuori campo IVA',
  },
  pt: {
    AE: 'IVA – autoliquidação',
    K: 'Transmissão intracomunitária isenta de IVA',
    G: 'Exportação isenta de IVA',
    E: 'Operação isenta de IVA',
    O: 'Operação não sujeita a IVA',
  },
  nl: {
    AE: 'Btw verlegd',
    K: 'Intracommunautaire levering, vrijgesteld van btw',
    G: 'Uitvoer, vrijgesteld van btw',
    E: 'Vrijgesteld van btw',
    O: 'Niet onderworpen aan btw',
  },
  ja: {
    AE: 'リバースチャージ方式：納税義務者は役務の受領者です',
    K: 'EU域内供給につき免税',
    G: '輸出免税',
    E: '非課税取引',
    O: '不課税取引',
  },
  ar: {
    AE: 'الاحتساب العكسي: يتحمل متلقي الخدمة ضريبة القيمة المضافة',
    K: 'توريد داخل الاتحاد الأوروبي معفى من ضريبة القيمة المضافة',
    G: 'تصدير معفى من ضريبة القيمة المضافة',
    E: 'معاملة معفاة من الضريبة',
    O: 'معاملة خارج نطاق الضريبة',
  },
};

/**
 * Returns the reason of a category, or undefined for a category that needs none.
 * @param language ISO 639-1. English replaces unknown ones.
 */
export function taxNote(category: TaxCategory | null, language: string): string | undefined {
  if (category === null || category === 'S' || category === 'Z') return undefined;
  return (NOTES[language] ?? english)[category];
}
