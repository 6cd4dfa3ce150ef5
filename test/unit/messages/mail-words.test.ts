// The words of mails: every language has every kind, values stay text, and the page is harmless.
import { afterAll, describe, expect, test } from '@jest/globals';
import { isWritten } from '#libs/documents/labels.ts';
import { mailWords } from '#libs/mail/mail-words.ts';
import { filledMarkdown, PLACEHOLDERS, placeholdersOf, unknownPlaceholders } from '#libs/mail/placeholders.ts';
import { MAIL_LANGUAGES, mailLanguage, standardMailText, suitedBody } from '#libs/mail/standard-texts.ts';
import { openMarkdown } from '#libs/markdown/markdown.ts';
import { MESSAGE_KINDS, type MessageKind } from '#libs/models/messages/message-kinds.ts';
import type { PaymentOption } from '#libs/rules/paying/payment-options.ts';
import { waysToPay } from '#libs/rules/paying/ways-to-pay.ts';

const markdown = openMarkdown({ patienceMs: 120_000 });
afterAll(() => markdown.close());

const account = {
  name: 'Ada',
  company: 'Studio <North>',
  address: 'Hafen 1\nKiel',
  brand_color: '#0b5fb0',
  mode: 'live',
} as const;
const wordsOf = (body: string, more: object = {}) =>
  mailWords(
    { subject: 'Invoice {number}', body, values: { number: 'INV-1' }, account, locale: 'en-US', ...more },
    { markdown, signal: new AbortController().signal },
  );

const SETTLED = { isSettled: true, hasFiles: true };
/** How the nine languages say that something is attached. */
const ATTACHED = /attached|Anhang|angehängt|ci-joint|[Aa]djuntamos|allegato|anexo|bijlage|bijgevoegd|مرفق|添付/;

describe('the standard texts', () => {
  test('when documents are written in a language, then mails are, too', () => {
    expect(MAIL_LANGUAGES.filter(isWritten)).toEqual(MAIL_LANGUAGES);
    expect([mailLanguage('de-AT'), mailLanguage('pl-PL'), mailLanguage('de_DE')]).toEqual(['de', 'en', 'en']);
  });

  const texts = MESSAGE_KINDS.flatMap((kind) => MAIL_LANGUAGES.map((language) => [kind, language] as const));
  test.each(texts)(
    'when %s is written in %s, then it names the document and nothing that such a mail lacks',
    (kind, language) => {
      const { subject, body } = standardMailText(kind, language);
      expect([unknownPlaceholders(kind, subject), unknownPlaceholders(kind, body)]).toEqual([[], []]);
      // A statement has no number: its days name it.
      expect(subject).toContain(kind === 'statement' ? '{from}' : '{number}');
      const needed: Partial<Record<MessageKind, string[]>> = {
        quote: ['valid_until'],
        link: ['link'],
        receipt: ['total'],
        credit_note: ['total'],
        answer: ['question', 'answer'],
        statement: ['from', 'to', 'balance'],
      };
      for (const name of needed[kind] ?? ['amount_due', 'due_date']) expect(body).toContain(`{${name}}`);
      expect(body).toContain('{sender}');
    },
  );

  test.each(MAIL_LANGUAGES)(
    'when nothing is due of an invoice in %s, then all but the sentence about it stays',
    (language) => {
      const { body } = standardMailText('invoice', language);
      const settled = suitedBody(body, { ...SETTLED, kind: 'invoice', locale: language });
      const named = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted();
      expect(named(settled)).toEqual(named(body).filter((name) => name !== 'amount_due' && name !== 'due_date'));
      expect(settled.split('\n\n')).toHaveLength(3);
      expect(settled.split('\n\n')[1]).toMatch(/\*\*\{total\}\*\*.*[.。]$/);
      expect(suitedBody(`${body}.`, { ...SETTLED, kind: 'invoice', locale: language })).toBe(`${body}.`);
    },
  );

  test.each(MAIL_LANGUAGES)(
    'when a quote was accepted, in %s, then all but the sentence about its last day stays',
    (language) => {
      const { body } = standardMailText('quote', language);
      const settled = suitedBody(body, { ...SETTLED, kind: 'quote', locale: language });
      expect(settled).not.toContain('{valid_until}');
      expect(settled.split('\n\n')).toHaveLength(3);
      expect(settled.split('\n\n')[1]).toMatch(/\{number\}.*\{total\}.*[.。]$/);
    },
  );

  const attached = (['invoice', 'quote', 'receipt', 'credit_note', 'statement'] as const).flatMap((kind) =>
    MAIL_LANGUAGES.map((language) => [kind, language] as const),
  );
  test.each(attached)(
    'when nothing is attached to a mail of %s in %s, then its words do not say so and name the same',
    (kind, language) => {
      const { body } = standardMailText(kind, language);
      const suited = suitedBody(body, { kind, locale: language, isSettled: false, hasFiles: false });
      const named = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted();
      expect(body).toMatch(ATTACHED);
      expect(suited).not.toMatch(ATTACHED);
      expect(named(suited)).toEqual(named(body));
      expect([suited.split('\n\n').at(0), suited.split('\n\n').at(-1)]).toEqual([
        body.split('\n\n').at(0),
        body.split('\n\n').at(-1),
      ]);
      expect(suited.split('\n\n')).toHaveLength(body.split('\n\n').length);
      expect(suitedBody(`${body}.`, { kind, locale: language, isSettled: false, hasFiles: false })).toBe(`${body}.`);
    },
  );

  test.each(MAIL_LANGUAGES)(
    'when nothing is attached and nothing is due, in %s, then both are left out',
    (language) => {
      const { body } = standardMailText('invoice', language);
      const suited = suitedBody(body, { kind: 'invoice', locale: language, isSettled: true, hasFiles: false });
      expect(suited).not.toMatch(ATTACHED);
      expect(suited).not.toContain('{amount_due}');
      expect(suited.split('\n\n')[1]).toMatch(/\*\*\{total\}\*\*.*[.。]$/);
    },
  );

  test('when placeholders are listed, then each has a meaning, and each kind has some', () => {
    const used = new Set(MESSAGE_KINDS.flatMap(placeholdersOf));
    expect([...used].toSorted()).toEqual(Object.keys(PLACEHOLDERS).toSorted());
  });
});

describe('a mail', () => {
  test('when it has a link, then it is under the text in the language of the mail, unless the text has it', async () => {
    const values = { number: 'INV-1', link: 'https://pay.example/p/a-b_c?x="&y' };
    const { html, text } = await wordsOf('Hallo', { values, locale: 'de-DE' });
    expect(text).toBe('Hallo\n\nOnline ansehen: https://pay.example/p/a-b_c?x="&y');
    expect(html).toContain('<a href="https://pay.example/p/a-b_c?x=&quot;&amp;y">Online ansehen</a>');
    expect((await wordsOf('{link}', { values, locale: 'de-DE' })).text).toBe(values.link);
    expect((await wordsOf('Hallo')).html).not.toContain('View online');
  });

  test('when it asks for money, then the ways to pay are under it, in its language, and only links of https are links', async () => {
    const holder = '<b>Studio</b>';
    const payment_options: PaymentOption[] = [
      { type: 'bank_transfer', holder, iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
      { type: 'link', label: 'Pay "now"', url: 'https://pay.example/{number}/{amount}' },
      { type: 'upi', vpa: 'studio@bank', name: 'Studio' },
    ];
    const waysIn = (currency: string) => ({
      ways: waysToPay({ payment_options }, { amount: 40_000, currency, number: 'INV-1' }),
      number: 'INV-1',
      amountDue: '400,00 €',
    });
    const { html, text } = await wordsOf('Hallo', { locale: 'de-DE', ways: waysIn('EUR') });
    expect(text).toBe(
      'Hallo\n\nBankverbindung\nOffener Betrag: 400,00 €\n\n<b>Studio</b>\nIBAN DE89 3704 0044 0532 0130 00\n' +
        'BIC COBADEFFXXX\nVerwendungszweck: INV-1\n\nPay "now": https://pay.example/INV-1/400.00',
    );
    expect(html).toContain('<bdi>&lt;b&gt;Studio&lt;/b&gt;</bdi><br>\n<bdi>IBAN DE89 3704 0044 0532 0130 00</bdi>');
    expect(html).toContain('<a href="https://pay.example/INV-1/400.00"><bdi>Pay &quot;now&quot;</bdi></a>');

    const address = { line1: 'Weg 1', postal_code: '8001', city: 'Zurich', country: 'CH' };
    payment_options.push({ type: 'swiss_qr', holder: 'S', address, qr_iban: 'CH4431999123000889012' });
    const francs = await wordsOf('x', { locale: 'ar-EG', ways: waysIn('CHF') });
    expect(francs.html).toContain('المرجع: <bdi>00 00000 00000 00000 00000 00011</bdi>');
    expect(francs.text).toContain('المرجع: 000000000000000000000000011');
    const rupees = await wordsOf('x', { locale: 'ar-EG', ways: waysIn('INR') });
    expect(rupees.text).toContain('UPI studio@bank\nالمرجع: INV-1');
    expect(rupees.text + rupees.html).not.toContain('upi:');
    const settled = await wordsOf('x', { ways: { ...waysIn('EUR'), ways: [] } });
    expect([settled.text, settled.html.includes('class="pay"')]).toEqual(['x', false]);
  });

  test('when a value looks like Markdown, HTML, a link or another placeholder, then it stays text', async () => {
    const client_name = '[a](https://evil.example) <b>**x**</b> www.evil.example {number}\r\n# Head';
    const { html, text } = await wordsOf('Hello {client_name}', { values: { client_name, number: 'INV-1' } });
    expect(html).not.toMatch(/<a |<b>|<strong>|<h\d>/);
    expect(html).toContain('[a](https://evil.example) &lt;b&gt;**x**&lt;/b&gt; www.evil.example {number} # Head');
    expect(text).toBe('Hello [a](https://evil.example) <b>**x**</b> www.evil.example {number} # Head');
  });

  test('when the text has HTML and pictures, then neither is in the mail', async () => {
    const { html } = await wordsOf(
      '<script>x</script><img src=x onerror=y>\n\n![p](https://evil.example/p.png) [l](javascript:x) **b**',
    );
    expect(html).not.toMatch(/<script|<img|onerror|javascript:|p\.png/);
    expect(html).toContain('<strong>b</strong>');
    expect(html).toContain('Studio &lt;North&gt;');
    expect(html).toContain('border-top:4px solid #0b5fb0');
  });

  test('when the colour is none, or the language is Arabic, or the account is a test, then the page follows', async () => {
    const { html, subject } = await wordsOf('x', {
      account: { ...account, brand_color: 'red;}body{display:none', mode: 'test' },
      locale: 'ar-EG',
    });
    expect(html).not.toContain('display:none');
    expect(html).toContain('lang="ar-EG" dir="rtl"');
    expect([subject, html.includes('>TEST<')]).toEqual(['[TEST] Invoice INV-1', true]);
  });

  test('when a text becomes too long by its values, or takes too long to lay out, then 422 says so', async () => {
    const long = wordsOf('{client_name}'.repeat(500), { values: { client_name: 'x'.repeat(2_000) } });
    await expect(long).rejects.toMatchObject({ status: 422, code: 'mail_text_not_printable' });
    await expect(wordsOf('> '.repeat(20_000))).rejects.toMatchObject({ status: 422, code: 'mail_text_not_printable' });
  });

  test('when a value is filled in, then its line breaks and its length are bounded', () => {
    expect(filledMarkdown('{sender}', { sender: 'a\nb' })).toBe('a b');
    expect(filledMarkdown('{sender}', { sender: 'x'.repeat(2_000) })).toHaveLength(500);
  });
});
