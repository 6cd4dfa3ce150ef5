// Where long words may be broken, in the language of the document.
import { expect, test } from '@jest/globals';
import { hyphenatorOf } from '../../../services/renderer/document/hyphenate.ts';
import { anInvoice, aRecord } from '../../support/renderer/documents.ts';

const COMPOUND = 'Vermögensverwaltungsgesellschaft';
const hyphenated = (given: Parameters<typeof aRecord>[0], text: string) =>
  hyphenatorOf(aRecord(given))(text).replaceAll('\u00ad', '|');

test.each([
  ['de-AT', COMPOUND, 'Ver|mö|gens|ver|wal|tungs|ge|sell|schaft'],
  ['nl-NL', 'Arbeidsongeschiktheidsverzekering', 'Ar|beids|on|ge|schikt|heids|ver|ze|ke|ring'],
  ['fi-FI', 'lentokonesuihkuturbiinimoottori', 'len|to|ko|ne|suih|ku|tur|bii|ni|moot|to|ri'],
  ['en-US', 'internationalization', 'in|ter|na|tion|al|iza|tion'],
])('when a word of %s is long, then its syllables are known', (locale, word, syllables) => {
  expect(hyphenated({ locale }, word)).toBe(syllables);
});

test.each([
  'Gesellschaft mbH',
  'buchhaltungsabteilung@vermoegensverwaltung.example',
  'https://vermoegensverwaltungsgesellschaft.example/buchhaltungsabteilung',
  'DE89370400440532013000',
  'x'.repeat(200),
  'ขอบคุณมากขอบคุณมากขอบคุณมาก',
])('when it is %s, then it stays as it is', (text) => {
  expect(hyphenatorOf(aRecord({ locale: 'de-DE' }))(text)).toBe(text);
});

test('when a document names no language, then a German company is still hyphenated as German', () => {
  const { locale: _locale, ...document } = aRecord({ clientCompany: `${COMPOUND} mbH` });

  expect(hyphenatorOf(document)(COMPOUND).split('\u00ad')).toHaveLength(9);
  expect(hyphenatorOf(anInvoice())('internationalization').split('\u00ad')).toHaveLength(7);
});
