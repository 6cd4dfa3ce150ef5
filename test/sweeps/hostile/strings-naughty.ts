// Texts that programs have stumbled over: the well-known list, and those it lacks.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const published = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('big-list-of-naughty-strings/blns.json'), 'utf8'),
) as string[];

const between = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_none, index) => String.fromCodePoint(from + index)).join('');

const own = [
  // Directions: overrides, isolates left open, marks alone.
  '\u202egnp.exe',
  '\u2066\u2067\u2068 open',
  '\u200f\u200e\u061c',
  'שלום 123 abc עולם',
  'مرحبا 123 abc بالعالم',
  '(a)\u05d0[b]\u05d1{c}',
  // Marks upon marks, and the same text in two forms.
  `Z${'\u0335\u0336\u0337\u0338'.repeat(40)}algo`,
  'e\u0301 é',
  'Å Å Å',
  '\u0301 alone',
  '각 각',
  'ﬁﬂﬀﬃ',
  // Beyond sixteen bits, joined, and of many parts.
  '𝒳𝔘𝕊 𐐷 🜁',
  '👩‍👩‍👧‍👦 👨🏿‍🚀 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇺🇳 #️⃣',
  '\u{10ffff}\u{e000}\u{f0000}',
  '\ufdd0\ufffe\uffff',
  '\ufeffstarts with a mark of byte order',
  '\u200b\u200c\u200d\u2060\u00ad between the letters',
  '𠜎𠜱𠝹 𠱓',
  // Blanks of every kind.
  ' leading and trailing ',
  '\u00a0\u1680\u2000\u2003\u2028\u2029\u202f\u205f\u3000',
  'tab\there, line\nthere, both\r\nends\rhere',
  ' ',
  '\n',
  // Case and comparison.
  'İIıi ß ẞ ŉ ǰ',
  'ſtraße STRASSE',
  'ΐ Ὕ ς σ Σ',
  // Texts that other programs interpret.
  '=1+1',
  '+cmd|" /C calc"!A0',
  '@SUM(1+1)*cmd',
  '-2+3',
  '$ne',
  '{"$gt":""}',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  'true',
  '0',
  '00',
  '1e1000',
  '-0',
  '../../../../etc/passwd',
  'C:\\CON\\nul.txt',
  '%00%0d%0a%2e%2e%2f',
  '&lt;b&gt;&amp;amp;&nbsp;&#0;&#x110000;',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text is a template of other programs.
  '<%= 1+1 %> ${1+1} {{1+1}} #{1+1} <?= 1+1 ?>',
  '\\u0041 \\x41 \\n \\',
  "' OR '1'='1' -- ;",
  '"; DROP TABLE clients; --',
  '`id` $(id) | id; id && id',
  '\u001b[31mred\u001b[0m',
  'From: a\r\nBcc: b',
  ')(|(uid=*))',
  // For printing: very long words and lines, and what a style sheet could interpret.
  'w'.repeat(2_000),
  'a '.repeat(900),
  'ж'.repeat(1_900),
  '漢'.repeat(1_900),
  '}</style>{color:red}\\22 \\A ; url(x)',
  '$brand $footer $text',
  '" counter(page) "',
  // Every character of a block once.
  between(0x20, 0x7e),
  between(0xa0, 0xff),
  between(0x100, 0x17f),
  between(0x370, 0x3ff),
  between(0x400, 0x4ff),
  between(0x2000, 0x206f),
  between(0x2190, 0x21ff),
  between(0x2500, 0x257f),
  // Rejected: they are not text.
  'a\u0000b',
  '\u0000',
  '\ud800',
  'a\udc00b',
  '\udfff\ud800',
  '\u0007\u0008\u000b\u000c\u000e\u001f\u007f',
];

export const naughtyStrings: readonly string[] = [...new Set([...published, ...own])];

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to reject.
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
/** False for what every field rejects; any other text is stored as it is. */
export const isText = (text: string) => text !== '' && text.isWellFormed() && !UNPRINTABLE.test(text);

/** Every string in the full form (HOSTILE_FULL=1), else one of `slices` equal slices of them. */
export const isFull = process.env['HOSTILE_FULL'] === '1';
export const sliceOf = (slice: number, slices: number) =>
  isFull ? naughtyStrings : naughtyStrings.filter((_text, index) => index % slices === slice % slices);
