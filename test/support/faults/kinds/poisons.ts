// Documents that are allowed, and made to take all the time and memory they can get.

const line = (description: string) => ({ description, qty: 1, rate: 1 });
const ZALGO =
  'Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034da\u036b\u0357\u0334\u0362\u0335\u031c\u0330\u0354';

/** The fields that each poison changes in a document. */
export const POISONS: Record<string, () => object> = {
  'as many lines as there may be': () => ({ lineItems: Array.from({ length: 500 }, () => line('x'.repeat(500))) }),
  'one word of twenty thousand letters': () => ({ notes: 'x'.repeat(20_000) }),
  'stars and brackets': () => ({ bodyMarkdown: '*_['.repeat(33_000) }),
  'quotes in quotes': () => ({ bodyMarkdown: `${'> '.repeat(10_000)}deep` }),
  'lists in lists': () => ({
    bodyMarkdown: Array.from({ length: 400 }, (_none, depth) => `${' '.repeat(Math.min(depth * 2, 200))}- item`).join(
      '\n',
    ),
  }),
  'a table of ten thousand cells': () => ({ bodyMarkdown: `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(5_000)}` }),
  'marks upon marks': () => ({ notes: ZALGO.repeat(100), terms: ZALGO.repeat(100) }),
  emoji: () => ({ notes: '👩‍👩‍👧‍👦🏳️‍🌈'.repeat(500) }),
  'right to left and back': () => ({ notes: 'שלום world مرحبا '.repeat(500) }),
  'every script at once': () => ({ notes: 'Aя汉字あ한हिไทยعρ'.repeat(500) }),
  'a picture that is none': () => ({ logoUrl: `data:image/png;base64,${'A'.repeat(500_000)}` }),
};
