// Words of a printed document are found by every engine that readers use, whatever their script.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { memoize } from 'es-toolkit/function/memoize';
import { documentLocaleOf } from '../../../services/renderer/document/locale.ts';
import { mayHaveClusters, withFindableClusters } from '../../../services/renderer/pdf/pdf-clusters.ts';
import { sampled } from '../../support/form.ts';
import { anInvoice, aRecord, STYLES } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';
import { missingWords, textEngines, textIn } from '../../support/renderer/text-engines.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

const WORDS: Record<string, string> = {
  Latin: 'Rechnung façade Straße naïve office waffle fjord Łódź',
  Greek: 'Τιμολόγιο Περιγραφή Ποσότητα Σύνολο ἀγαθός',
  Cyrillic: 'Счёт Описание Количество Итого їжак',
  Vietnamese: 'Hóa đơn Số lượng Thành tiền Nguyễn',
  Arabic: 'فاتورة رقم الفاتورة تاريخ الإصدار المبلغ المستحق الإجمالي تصميم الموقع خصم لا لله الوصف',
  Persian: 'صورتحساب شماره فاکتور مبلغ کل تخفیف می‌شود نمی‌خواهم گچپژ',
  Urdu: 'رسید تفصیل قیمت ٹیکس کل رقم ڈیزائن ہے گھر',
  Hebrew: 'חשבונית תיאור כמות סכום לתשלום הנחה',
  Devanagari: 'चालान विवरण मात्रा कुल राशि छूट डिज़ाइन कार्य श्री हिन्दी क्षत्रिय',
  Bengali: 'চালান বিবরণ পরিমাণ মোট ছাড় বাংলা কর্ম শিক্ষা',
  Gurmukhi: 'ਚਲਾਨ ਵੇਰਵਾ ਮਾਤਰਾ ਕੁੱਲ ਰਕਮ ਪੰਜਾਬੀ ਸ੍ਰੀ',
  Gujarati: 'ઇન્વૉઇસ વર્ણન કુલ રકમ ગુજરાતી ડિઝાઇન શ્રી',
  Odia: 'ଚାଲାଣ ବିବରଣ ମୋଟ ଓଡ଼ିଆ ଶ୍ରୀ',
  Tamil: 'விலைப்பட்டியல் விளக்கம் அளவு மொத்தம் தமிழ் கொடுப்பனவு',
  Telugu: 'ఇన్వాయిస్ వివరణ మొత్తం తెలుగు పన్ను శ్రీ',
  Kannada: 'ಇನ್ವಾಯ್ಸ್ ವಿವರಣೆ ಮೊತ್ತ ಕನ್ನಡ ತೆರಿಗೆ ಶ್ರೀ',
  Malayalam: 'ഇൻവോയ്സ് വിവരണം ആകെ മലയാളം നികുതി കൊടുക്കുക',
  Sinhala: 'ඉන්වොයිසිය විස්තරය එකතුව සිංහල ශ්‍රී ලංකා',
  Thai: 'ใบแจ้งหนี้ รายละเอียด จำนวน ยอดรวม น้ำ ที่',
  Lao: 'ໃບແຈ້ງໜີ້ ລາຍລະອຽດ ຈຳນວນ ລວມ ລາວ ນ້ຳ',
  Khmer: 'វិក្កយបត្រ ការពិពណ៌នា បរិមាណ សរុប ខ្មែរ',
  Burmese: 'ငွေတောင်းခံလွှာ ဖော်ပြချက် စုစုပေါင်း မြန်မာ',
  Tibetan: 'དངུལ་འཛིན་ འགྲེལ་བཤད་ བོད་ བསྒྲུབས',
  Ethiopic: 'ደረሰኝ መግለጫ ብዛት ጠቅላላ አማርኛ',
  Georgian: 'ინვოისი აღწერა რაოდენობა ჯამი ქართული',
  Armenian: 'Հաշիվ Նկարագրություն Քանակ Ընդամենը և',
  'simplified Chinese': '发票 描述 数量 总计 设计费用',
  'traditional Chinese': '發票 描述 數量 總計 設計費用',
  Japanese: '請求書 品目 数量 合計 デザイン ご請求',
  Korean: '청구서 설명 수량 합계 디자인',
};

/** All engines read the same file. */
const printed = memoize(
  async ({ written, accessible }: { written: string; accessible: boolean }) => {
    const descriptions = written.split(' ');
    const lineItems = descriptions.map((description) => ({
      description,
      qty: '1',
      rate: '10',
      discount: '0',
      amount: 10,
    }));
    return (await renderer.print(aRecord({ lineItems, notes: written, accessible }))).bytes;
  },
  { getCacheKey: ({ written, accessible }) => `${accessible} ${written}` },
);

describe.each(textEngines)('words that %s finds', (engine) => {
  test.each(sampled(Object.entries(WORDS)))(
    'when a document is written in %s, then each word is found',
    async (_script, written) => {
      for (const accessible of [false, true]) {
        expect(await missingWords(engine, await printed({ written, accessible }), written.split(' '))).toEqual([]);
      }
    },
  );

  test.each(STYLES)('when a record is printed in Arabic in %s, then every label is found', async (fontStyle) => {
    const document = aRecord({ locale: 'ar-AE', currency: 'AED', fontStyle, notes: '-', terms: '-', poNumber: '7' });
    const { labels, heading } = documentLocaleOf(document);
    const { from, to, date, until, poNumber, description, qty, rate, amount, subtotal, total } = labels;
    const all = [heading, from, to, date, until, poNumber, description, qty, rate, amount, subtotal, total];
    const words = [...all, labels.notes, labels.terms].flatMap((label) => label.split(' '));
    const { bytes } = await renderer.print(document);

    expect(await missingWords(engine, bytes, words)).toEqual([]);
  });
});

test.each(textEngines)('when right-to-left words have vowel marks, then %s finds them', async (engine) => {
  const words = ['שָׁלוֹם', 'مُحَمَّد', 'شكرًا', 'مدّة', 'للّه'];
  const lineItems = words.map((description) => ({ description, rate: 10 }));
  const { bytes } = await renderer.print(anInvoice({ lineItems }));

  expect(await missingWords(engine, bytes, words)).toEqual([]);
});

describe('a document whose text was made searchable', () => {
  // Such documents are not searched for clusters: this proves that they have none.
  test.each(STYLES)(
    'when it is set in %s and has nothing but Latin letters, then its bytes stay the same',
    async (fontStyle) => {
      const letters = charactersIn(
        [0x21, 0x7e],
        [0xa1, 0xac],
        [0xae, 0x24f],
        [0x2010, 0x2027],
        [0x2030, 0x203a],
        [0x20a0, 0x20bf],
      );
      const { bytes } = await renderer.print(anInvoice({ fontStyle, notes: `${letters} office waffle fjord AVATAR` }));

      expect(mayHaveClusters(letters)).toBe(false);
      expect((await withFindableClusters(bytes)).equals(bytes)).toBe(true);
    },
  );

  test.each(['हिन्दी', 'م', 'a\u0301', 'Grund\u00adstück', 'ไทย', '👩‍💻'])(
    'when a text has %s, then clusters are searched for',
    (text) => {
      expect(mayHaveClusters(`<p>${text}</p>`)).toBe(true);
    },
  );

  test.each([
    ['Devanagari', 'क\u093f', '\u0951'],
    ['Latin', 'a', '\u0301'],
    ['Hebrew', 'ש', '\u05b0'],
    ['Arabic', 'م', '\u064e'],
    ['Thai', 'ท', '\u0e49'],
  ])(
    'when a letter in %s has more marks than one glyph can hold, then the document is printed',
    async (_script, letter, mark) => {
      for (const count of [20, 200, 2_000]) {
        const { pages } = await renderer.read(aRecord({ terms: `First ${letter}${mark.repeat(count)} last` }));

        expect(pages.map(({ text }) => text).join(' ')).toMatch(/First .*last/);
      }
    },
  );

  test('when a file is not a PDF of Chromium, then it stays unchanged', async () => {
    for (const text of ['', '%PDF-1.7\nstartxref\n9\n%%EOF', 'trailer\n<</Size 1>>\nstartxref\n0\n%%EOF\n']) {
      const bytes = Buffer.from(text);
      expect(await withFindableClusters(bytes)).toBe(bytes);
    }
  });

  test('when the same content is printed again, then the bytes are the same', async () => {
    const document = aRecord({ notes: Object.values(WORDS).join('\n') });
    const [first, second] = [await renderer.print(document), await renderer.print(document)];

    expect(second.bytes.equals(first.bytes)).toBe(true);
  });

  test('when words of several scripts stand in one line, then their order stays', async () => {
    const { bytes } = await renderer.print(anInvoice({ lineItems: [{ description: 'A हिन्दी B தமிழ் C', rate: 200 }] }));

    for (const engine of textEngines) expect(await textIn(engine, bytes)).toContain('A हिन्दी B தமிழ் C');
  });
});

test('when a long compound does not fit, then it is broken at a syllable with a hyphen, and copied text has no soft hyphens', async () => {
  const { bytes, text } = await renderer.read(
    anInvoice({ clientCompany: 'Vermögensverwaltungsgesellschaft Grundstücksgemeinschaft mbH' }),
  );

  expect(text).toMatch(/Vermögens\S*‐ \S*schaft Grund/);
  for (const engine of textEngines) expect(await textIn(engine, bytes)).not.toContain('\u00ad');
});

function charactersIn(...ranges: [from: number, to: number][]): string {
  return ranges
    .flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_none, index) => String.fromCodePoint(from + index)),
    )
    .join(' ');
}
