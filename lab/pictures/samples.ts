// The documents on the pictures of docs/documents.md, three for each picture.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';

const PARTIES = {
  clientName: 'Ada Lovelace',
  clientCompany: 'Analytical Engines Ltd',
  clientEmail: 'ada@analytical.example',
  partnerName: 'Nora Lindqvist',
  partnerCompany: 'Studio North',
  partnerEmail: 'hello@north.example',
};

const INVOICE: PrintableDocument = {
  ...PARTIES,
  title: 'Invoice',
  number: 'INV-0042',
  date: '2026-11-21',
  dueDate: '2026-12-21',
  poNumber: 'PO-7781',
  lineItems: [
    { description: 'Brand workshop, two days on site', qty: '2', rate: '1450' },
    { description: 'Identity design: logotype, colour, typography', qty: '1', rate: '4800' },
    { description: 'Style guide, 48 pages, print and web', qty: '12.5', rate: '95' },
    { description: 'Travel and lodging\nTwo nights, rail, second class', qty: '1', rate: '318.4' },
  ],
  amount: 11_047.08,
  taxRate: 20,
  currencySymbol: '$',
  fontStyle: 'elegant',
  layoutType: 'standard',
  textScale: 1,
  showBanner: true,
  isQuote: false,
  requiresSignature: false,
};

/** A stored document: it has the sums of the record and the account's bank account. */
const STORED: PrintableDocument = {
  ...INVOICE,
  locale: 'en-US',
  pageSize: 'a4',
  currency: 'USD',
  subtotal: 9_205.9,
  taxAmount: 1_841.18,
  bankDetails: 'Studio North\nIBAN DK50 0040 0440 1162 43\nBIC NDEADKKK',
};

const TEXTS = {
  notes: 'Thank you for your trust. It was a pleasure to work with your team.',
  terms: 'Payable within 30 days by bank transfer. Late payments bear interest at 8 % a year.',
};

const { dueDate: _due, poNumber: _order, ...UNDATED } = INVOICE;

const QUOTE: PrintableDocument = {
  ...UNDATED,
  title: 'Quote',
  number: 'QUO-0007',
  isQuote: true,
  expiryDate: '2026-12-21',
  fontStyle: 'modern',
  layoutType: 'overlay',
  brandColor: '#1f3a8f',
  currencySymbol: '€',
  quoteIntro:
    'Dear Ada,\nthank you for the good talk last week. Here is what we propose for the new identity of Analytical Engines.',
  lineItems: INVOICE.lineItems.slice(0, 2),
  amount: 9_240,
  terms: 'Half of the sum is due on acceptance, the rest on delivery.',
  requiresSignature: true,
};

const DISCOUNTED: PrintableDocument = {
  ...INVOICE,
  ...TEXTS,
  fontStyle: 'classic',
  brandColor: '#7a2814',
  lineItems: [
    ...INVOICE.lineItems,
    { description: 'Photographs of the workshop, with all rights', qty: '1', rate: '640' },
  ],
  discountAmount: 200,
  shippingAmount: 25,
  amount: 11_600.08,
};

const ARABIC: PrintableDocument = {
  ...UNDATED,
  dueDate: '2026-12-21',
  locale: 'ar-AE',
  currency: 'AED',
  clientName: 'ليلى حداد',
  clientCompany: 'شركة الأفق للتقنية',
  clientEmail: 'layla@horizon.example',
  clientAddress: 'شارع الشيخ زايد 12\nدبي\nالإمارات العربية المتحدة',
  partnerName: 'نورة العلي',
  partnerCompany: 'استوديو الشمال',
  partnerAddress: 'شارع الكورنيش\nأبوظبي',
  lineItems: [
    { description: 'ورشة عمل العلامة التجارية، يومان', qty: '2', rate: '1450', amount: 2_900 },
    { description: 'تصميم الهوية: الشعار والألوان والخطوط', qty: '1', rate: '4800', amount: 4_800 },
    { description: 'دليل الأسلوب (PDF)، 48 صفحة', qty: '12.5', rate: '95', amount: 1_187.5 },
  ],
  taxRate: 5,
  subtotal: 8_887.5,
  taxAmount: 444.38,
  amount: 9_331.88,
  bankDetails: 'استوديو الشمال\nIBAN AE07 0331 2345 6789 0123 456',
  notes: 'شكرا لثقتكم بنا. يسعدنا العمل معكم.',
};

const JAPANESE: PrintableDocument = {
  ...UNDATED,
  dueDate: '2026-12-21',
  fontStyle: 'modern',
  brandColor: '#0f766e',
  locale: 'ja-JP',
  currency: 'JPY',
  clientName: '愛田 花子',
  clientCompany: '分析機関株式会社',
  clientEmail: 'hanako@bunseki.example',
  clientAddress: '〒100-0001\n東京都千代田区千代田1-1',
  partnerName: '山本 太郎',
  partnerCompany: '北山設計株式会社',
  partnerAddress: '〒604-8001\n京都市中京区上本能寺前町488',
  partnerTaxNumber: 'T1234567890123',
  lineItems: [
    { description: 'ブランドワークショップ（2日間）', qty: '2', rate: '145000', amount: 290_000 },
    { description: 'アイデンティティデザイン：ロゴ、色、書体', qty: '1', rate: '480000', amount: 480_000 },
    { description: 'スタイルガイド 48ページ', qty: '12.5', rate: '9500', amount: 118_750 },
  ],
  taxRate: 10,
  subtotal: 888_750,
  taxAmount: 88_875,
  amount: 977_625,
  bankDetails: 'みずほ銀行 京都支店\n普通 1234567',
  notes: 'いつもお世話になっております。',
};

const SCRIPTS = [
  'Ελληνικά: Σχεδιασμός ταυτότητας',
  'Русский: Разработка сайта',
  '中文：品牌设计与网站开发',
  '日本語：ブランドデザイン',
  '한국어: 브랜드 디자인',
  'العربية: تصميم الهوية البصرية',
  'עברית: עיצוב מותג',
  'हिन्दी: ब्रांड डिज़ाइन',
  'ไทย: ออกแบบแบรนด์',
  'Tiếng Việt: Thiết kế thương hiệu',
  'ქართული · Հայերեն · বাংলা · தமிழ்',
  'Emoji 🎉 ✅ 🚀 ✓ ✗',
];

const MANY_SCRIPTS: PrintableDocument = {
  ...UNDATED,
  dueDate: '2026-12-21',
  fontStyle: 'classic',
  clientCompany: 'Εταιρεία Ανάλυσης ΑΕ',
  clientName: 'Анна Каренина',
  lineItems: SCRIPTS.map((description, index) => ({ description, qty: 1 + (index % 3), rate: 40 * (index + 1) })),
  amount: 7_872,
};

interface Sample {
  document: PrintableDocument;
  hasLogo?: boolean;
}

export const PICTURES: Readonly<Record<string, readonly Sample[]>> = {
  documents: [{ document: STORED }, { document: QUOTE }, { document: DISCOUNTED }],
  'documents-layouts': [
    { document: { ...STORED, layoutType: 'overlay', brandColor: '#f4c542' }, hasLogo: true },
    { document: { ...STORED, fontStyle: 'modern' }, hasLogo: true },
    { document: { ...STORED, fontStyle: 'classic', showBanner: false }, hasLogo: true },
  ],
  'documents-scripts': [{ document: ARABIC }, { document: JAPANESE }, { document: MANY_SCRIPTS }],
};
