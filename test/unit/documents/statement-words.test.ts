// The words of the statement of account: each language of documents has its own.
import { expect, test } from '@jest/globals';
import { labelsOf } from '#libs/documents/labels.ts';
import { statementWords } from '#libs/documents/statement-words.ts';
import { MAIL_LANGUAGES } from '#libs/mail/standard-texts.ts';

test('when a page is in a language of documents, then its statement is, too, and no word is missing', () => {
  const titles = MAIL_LANGUAGES.map((language) => statementWords(language).title);
  expect(new Set(titles).size).toBe(MAIL_LANGUAGES.length);
  for (const language of MAIL_LANGUAGES) {
    const words = Object.values(statementWords(language)).flatMap((one: string | Record<string, string>) =>
      typeof one === 'string' ? [one] : Object.values(one),
    );
    expect([language, words.filter((word) => word.trim() === '')]).toEqual([language, []]);
  }
  expect(statementWords('xx')).toBe(statementWords('en'));
});

test.each(MAIL_LANGUAGES)(
  'when an amount is written off, then the statement in %s says so in the words of the invoice: it is still owed, and not waived',
  (language) => {
    expect(statementWords(language).kinds.write_off).toContain(labelsOf('invoice', language).writtenOff);
  },
);
