// Scripts and symbols of the world on the printed page: each is drawn, in a face of its own that PDF readers draw well.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anInvoice, aRecord, STYLES } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
});
afterAll(() => renderer.close());

const SCRIPTS = [
  ['Georgian', 'ანგარიში ₾', 'NotoSansGeorgian'],
  ['Armenian', 'Հաշիվ ֏', 'NotoSansArmenian'],
  ['Bengali', 'চালান ৳', 'NotoSansBengali'],
  ['Gurmukhi', 'ਚਲਾਨ', 'NotoSansGurmukhi'],
  ['Gujarati', 'ઇન્વૉઇસ', 'NotoSansGujarati'],
  ['Odia', 'ଚାଲାଣ', 'NotoSansOriya'],
  ['Tamil', 'விலைப்பட்டியல்', 'NotoSansTamil'],
  ['Telugu', 'ఇన్వాయిస్', 'NotoSansTelugu'],
  ['Kannada', 'ಇನ್ವಾಯ್ಸ್', 'NotoSansKannada'],
  ['Malayalam', 'ഇൻവോയ്സ്', 'NotoSansMalayalam'],
  ['Sinhala', 'ඉන්වොයිසිය', 'NotoSansSinhala'],
  ['Lao', 'ໃບແຈ້ງໜີ້ ₭', 'NotoSansLao'],
  ['Khmer', 'វិក្កយបត្រ ៛', 'NotoSansKhmer'],
  ['Burmese', 'ငွေတောင်းခံလွှာ', 'NotoSansMyanmar'],
  ['Ethiopic', 'ደረሰኝ', 'NotoSansEthiopic'],
  ['Tibetan', 'དངུལ་འཛིན', 'NotoSerifTibetan'],
  ['Arabic', 'فاتورة', 'Amiri'],
  ['Simplified Chinese', '发票总计', 'NotoSansSC'],
] as const;

describe('scripts', () => {
  test.each(SCRIPTS)('when %s is printed, then its own face is embedded, as a subset', async (...row) => {
    const [, notes, face] = row;
    const { bytes, warnings } = await renderer.print(anInvoice({ notes }));
    const fonts = bytes.toString('latin1');

    expect(warnings).toEqual([]);
    expect(fonts).toMatch(new RegExp(`/BaseFont /[A-Z]{6}\\+${face}-Regular`));
    expect(fonts).not.toContain('/Subtype /Type3');
    expect(bytes.length).toBeLessThan(60_000);
  });

  test.each([
    ['zh-CN', 'CNY', 'NotoSansSC'],
    ['zh-SG', 'SGD', 'NotoSansSC'],
    ['zh-TW', 'TWD', 'NotoSansTC'],
    ['zh-HK', 'HKD', 'NotoSansHK'],
    ['zh-MO', 'MOP', 'NotoSansHK'],
    ['zh-Hant', 'TWD', 'NotoSansTC'],
    ['ja-JP', 'JPY', 'BIZUDPGothic'],
    ['ko-KR', 'KRW', 'NotoSansKR'],
  ])('when a document of %s has Han characters, then they have the forms of that region', async (...row) => {
    const [locale, currency, face] = row;
    const fonts = (await renderer.print(aRecord({ notes: '骨令角過', locale, currency }))).bytes.toString('latin1');

    expect(fonts.match(/NotoSans(?:SC|TC|HK|KR)|BIZUDPGothic/g)).toContain(face);
    expect(new Set(fonts.match(/NotoSans(?:SC|TC|HK|KR)|BIZUDPGothic/g)).size).toBe(1);
  });

  test.each([
    ['發票 設計費用', '$', 'NotoSansTC'],
    ['發票 設計費用', 'HK$', 'NotoSansHK'],
    ['发票 设计费用', '$', 'NotoSansSC'],
    ['청구서 金額', '$', 'NotoSansKR'],
    ['ご請求書', '$', 'BIZUDPGothic'],
  ])(
    'when a caller of the PDF tool writes %s with %s, then the region of the forms follows from the characters',
    async (...row) => {
      const [notes, currencySymbol, face] = row;
      const fonts = (await renderer.print(anInvoice({ notes, currencySymbol }))).bytes.toString('latin1');

      expect(new Set(fonts.match(/NotoSans(?:SC|TC|HK|KR)|BIZUDPGothic/g))).toEqual(new Set([face]));
    },
  );
});

describe('symbols', () => {
  test.each(STYLES)('when %s prints check marks, arrows and currency signs, then each is drawn', async (style) => {
    const notes = ['✓✗✘✕☒☑☐✔✖➜➤►‣⌀⟶⟵⟷‱→⇒★①Ⅱ½⅓', '₠₡₢₣₤₥₦₧₨₩₪₫€₭₮₯₰₱₲₳₴₵₶₷₸₹₺₻₼₽₾₿⃀֏؋৳฿៛﷼'];
    const { warnings } = await renderer.print(anInvoice({ fontStyle: style, notes: notes.join('\n') }));

    expect(warnings).toEqual([]);
  });

  test('when there is a check mark, then it comes from the same face as the cross beside it', async () => {
    const { bytes } = await renderer.print(anInvoice({ notes: '✓' }));

    expect(bytes.toString('latin1')).toContain('NotoSansSymbols2');
  });

  test('when the PDF tool is given a currency sign that few faces have, then each amount has it', async () => {
    for (const currencySymbol of ['৳', '₾', '֏', '៛']) {
      const { warnings } = await renderer.print(anInvoice({ currencySymbol }));
      expect(warnings).toEqual([]);
    }
  });
});
