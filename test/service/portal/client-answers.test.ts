// The forms of the client's page: what a person can answer, what a program that sends every form cannot, and hostile fields.
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { PaymentPromise } from '#libs/models/answers/promise.ts';
import { Question } from '#libs/models/answers/question.ts';
import { QuoteEvidence } from '#libs/models/answers/quote-evidence.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { CLIENT_FORMS } from '../../../services/portal/client/forms.ts';
import { pageWords } from '../../../services/portal/client/words.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import { create } from '../../support/records.ts';

const TODAY = dayIn('UTC');
const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>{amount_due}'`;
const ESCAPED = '&lt;script>alert(1)&lt;/script>';

let gateway: TestGateway;
let portal: TestPortal;
let clientId: string;
beforeAll(async () => {
  gateway = await startGateway();
  const limits = { address: 10_000, link: 10_000, forms: 10_000 };
  portal = await startPortal(gateway.workspace, { client: { limits } });
  clientId = (await create(gateway, '/api/v1/clients', { name: 'Ada Lovelace', email: 'ada@example.com' })).id;
});
afterAll(async () => {
  await portal.close();
  await gateway.close();
});

const line_items = [
  { description: 'Design', quantity: 2, rate: 400 },
  { description: 'Building', quantity: 1, rate: 200 },
];
const sold = (fields: object) => ({ client_id: clientId, currency: 'EUR', line_items, status: 'Sent', ...fields });
const quote = async (fields: object = {}) =>
  (await create(gateway, '/api/v1/quotes', sold({ amount: 1_000, ...fields }))).id as string;
const invoice = async (fields: object = {}) =>
  (await create(gateway, '/api/v1/invoices', sold({ due_date: addDays(TODAY, 14), ...fields }))).id as string;
const record = async (path: string) => (await gateway.get(`/api/v1/${path}`)).body.data;

async function linkTo(kind: 'quotes' | 'invoices', id: string, body: object = {}): Promise<string> {
  const { body: made } = await gateway.post(`/api/v1/${kind}/${id}/links`, body);
  return pathOf(made.data.url);
}
const get = async (path: string) => (await portal.browser().get(path)).text;

interface PageForm {
  action: string;
  fields: Record<string, string>;
}

/** The forms of a page as a program finds them, with the values that stand in them. A box that is not ticked is not sent. */
function formsOf(text: string): PageForm[] {
  return [...text.matchAll(/<form method="post" action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g)].map(
    ([, action, inside]) => {
      const fields: Record<string, string> = {};
      for (const [tag] of String(inside).matchAll(/<(?:input|textarea|select)[^>]*>/g)) {
        const name = /name="([^"]*)"/.exec(tag)?.[1];
        if (name && !tag.includes('type="checkbox"')) fields[name] = /value="([^"]*)"/.exec(tag)?.[1] ?? '';
      }
      return { action: String(action), fields };
    },
  );
}

/** Sends the form of the page as a person does who fills in `fields`. */
async function send(path: string, form: string, fields: Record<string, string>) {
  const found = formsOf(await get(path)).find(({ action }) => action === path + form);
  if (!found) throw new Error(`the page has no form ${form}`);
  return portal.browser().post(found.action, { ...found.fields, ...fields });
}

const ACCEPTED = { name: 'Ada Lovelace', agree: 'yes' };

/** All that the acts of a page can change. */
async function everything(): Promise<string> {
  const own = { account_id: gateway.account.id };
  const records = [];
  for (const each of [Quote, Invoice, QuoteEvidence, PaymentPromise, Question, Event])
    records.push(await (each as typeof Quote).find(own).sort({ _id: 1 }).lean());
  return JSON.stringify(records);
}

test.each(['quotes', 'invoices'] as const)(
  'when a program loads the page of %s in every way and sends every form that it finds, then nothing changes',
  async (kind) => {
    const path = await linkTo(kind, await (kind === 'quotes' ? quote() : invoice()));
    const before = await everything();
    await portal.browser().get(path);
    await fetch(portal.url + path, { method: 'HEAD' });
    const forms = formsOf(await get(path));
    expect(forms.length).toBeGreaterThanOrEqual(2);
    for (const { action, fields } of forms) {
      const { status, text } = await portal.browser().post(action, fields);
      expect([action, status]).toEqual([action, 422]);
      expect(text).toContain('role="alert"');
      // A screen reader says the problem at each wrong field.
      expect(text).toContain('id="problem"');
      expect(text).toContain('aria-invalid="true" aria-describedby="problem"');
      expect((await portal.browser().post(action, {})).status).toBe(403);
    }
    expect(await everything()).toBe(before);
  },
);

describe('accepting', () => {
  test('when a person accepts, then the quote is Accepted, the page says by whom, and the evidence names the link', async () => {
    const id = await quote({ terms: 'Half in advance' });
    const path = await linkTo('quotes', id);
    const text = await get(path);
    expect(text.indexOf('Half in advance')).toBeLessThan(text.indexOf('name="agree"'));
    expect(text.indexOf('name="name"')).toBeLessThan(text.indexOf('name="agree"'));

    const { status, headers } = await send(path, '/accept', { ...ACCEPTED, order_number: '4711' });
    expect([status, headers.get('location')]).toEqual([303, `${path}?done=accepted`]);

    expect(await record(`quotes/${id}`)).toMatchObject({
      ...{ status: 'Accepted', acceptance: { by: 'client' }, order_reference: '4711' },
    });
    const { quote_number } = await record(`quotes/${id}`);
    expect(await record(`quotes/${id}/acceptance`)).toMatchObject({
      ...{ name: 'Ada Lovelace', order_number: '4711', pdf_sha256: null, drawn_signature: null },
      agreement: `I accept ${quote_number} over €1,000.00 and agree to its terms.`,
      browser: expect.stringContaining('node'),
    });
    const after = await get(`${path}?done=accepted`);
    expect(after).toContain('Thank you. You have accepted the quote.');
    expect(after).toContain('Accepted by Ada Lovelace on');
    expect(formsOf(after).map(({ action }) => action)).toEqual([`${path}/ask`]);
    expect((await portal.browser().get('/.well-known/billhook-keys')).text).toContain('Ed25519');

    // The owner's acceptance is not the client's.
    for (const answer of ['Sent', 'Accepted']) await gateway.patch(`/api/v1/quotes/${id}`, { status: answer });
    expect(await get(path)).not.toContain('Accepted by Ada Lovelace on');
  });

  test('when the owner changes an accepted quote, or reopens it, then the page does not say that the client accepted that', async () => {
    const id = await quote();
    const path = await linkTo('quotes', id);
    await send(path, '/accept', ACCEPTED);
    const said = async () => {
      const text = await get(`${path}?done=accepted`);
      return [text.includes('Accepted by Ada Lovelace'), text.includes('You have accepted the quote')];
    };
    expect(await said()).toEqual([true, true]);
    expect((await gateway.patch(`/api/v1/quotes/${id}`, { terms: 'All in advance' })).status).toBe(200);
    expect(await said()).toEqual([false, false]);
    await gateway.patch(`/api/v1/quotes/${id}`, { status: 'Sent' });
    expect(await said()).toEqual([false, false]);
    await send(path, '/decline', { confirm: 'yes' });
    expect(await get(`${path}?done=declined`)).toContain('You have declined the quote');
    await gateway.patch(`/api/v1/quotes/${id}`, { status: 'Sent' });
    expect(await get(`${path}?done=declined`)).not.toContain('You have declined the quote');
  });

  test('when it is clicked twice at once, then it is one acceptance, and both see it', async () => {
    const id = await quote();
    const path = await linkTo('quotes', id);
    const [{ fields } = { fields: {} }] = formsOf(await get(path));
    const click = () => portal.browser().post(`${path}/accept`, { ...fields, ...ACCEPTED });
    const answers = await Promise.all([click(), click()]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(await QuoteEvidence.countDocuments({ account_id: gateway.account.id, quote_id: id })).toBe(1);
  });

  test('when something is missing, then the page says all of it and keeps what was typed', async () => {
    const path = await linkTo('quotes', await quote());
    const { status, text } = await send(path, '/accept', { name: ' ', order_number: 'PO-17' });
    expect(status).toBe(422);
    expect(text).toContain('Please type your full name. Please tick that you agree.');
    expect(text).toContain('value="PO-17"');
  });

  test.each([
    ['the client', async (id: string) => void (await send(await linkTo('quotes', id), '/accept', ACCEPTED))],
    ['the owner', async (id: string) => void (await gateway.patch(`/api/v1/quotes/${id}`, { status: 'Accepted' }))],
  ])(
    'when the quote is changed after %s accepted it, then its page says that another version was accepted',
    async (_, accept) => {
      const id = await quote();
      const path = await linkTo('quotes', id);
      await accept(id);
      expect(await get(path)).not.toContain('An earlier version');

      await gateway.patch(`/api/v1/quotes/${id}`, { notes: 'Without the logo' });

      expect(await record(`quotes/${id}`)).toMatchObject({ status: 'Accepted', acceptance: { changed: true } });
      const text = await get(path);
      expect(text).toMatch(/An earlier version of this quote was accepted on [^.]+\. It has been changed since then\./);
      expect(text).not.toContain('Accepted by Ada Lovelace');
      // A browser keeps the address that it was sent to after the acceptance.
      expect(await get(`${path}?done=accepted`)).not.toContain('You have accepted the quote');
    },
  );

  test('when the quote changed since it was shown, then the page shows the new one and accepts nothing', async () => {
    const id = await quote();
    const path = await linkTo('quotes', id);
    const [form] = formsOf(await get(path));
    await gateway.patch(`/api/v1/quotes/${id}`, { terms: 'All in advance' });
    const { status, text } = await portal.browser().post(`${path}/accept`, { ...form?.fields, ...ACCEPTED });
    expect(status).toBe(422);
    expect(text).toContain('The quote was changed in the meantime.');
    expect(text).toContain('All in advance');
    expect(await record(`quotes/${id}`)).toMatchObject({ status: 'Sent' });
  });

  test('when the quote has expired, then it cannot be accepted, and the page offers to ask for a new one', async () => {
    const id = await quote();
    const path = await linkTo('quotes', id);
    const [form] = formsOf(await get(path));
    await gateway.patch(`/api/v1/quotes/${id}`, { expires_at: addDays(TODAY, -3) });
    const text = await get(path);
    expect(formsOf(text).map(({ action }) => action)).toEqual([`${path}/ask`]);
    expect(text).toContain('This quote has expired. Ask for a new one');
    expect((await portal.browser().post(`${path}/accept`, { ...form?.fields, ...ACCEPTED })).status).toBe(409);
    expect(await QuoteEvidence.countDocuments({ account_id: gateway.account.id, quote_id: id })).toBe(0);
  });

  test('when a signature is drawn, then the evidence has it', async () => {
    const id = await quote();
    const path = await linkTo('quotes', id);
    const drawn = `data:image/png;base64,${png().toString('base64')}`;
    expect((await send(path, '/accept', { ...ACCEPTED, drawn })).status).toBe(303);
    expect(await record(`quotes/${id}/acceptance`)).toMatchObject({ drawn_signature: drawn });
  });
});

test('when a person declines with a reason, then the quote is Declined and the owner reads the reason', async () => {
  const id = await quote();
  const path = await linkTo('quotes', id);
  expect((await send(path, '/decline', { reason: 'Too dear' })).status).toBe(422);
  expect((await send(path, '/decline', { reason: 'Too dear', confirm: 'yes' })).status).toBe(303);
  expect(await record(`quotes/${id}`)).toMatchObject({ status: 'Declined', decline: { reason: 'Too dear' } });
});

test('when the quote changed since it was shown, then the page shows the new one and declines nothing', async () => {
  const id = await quote();
  const path = await linkTo('quotes', id);
  const form = formsOf(await get(path)).find(({ action }) => action.endsWith('/decline'));
  await gateway.patch(`/api/v1/quotes/${id}`, { terms: 'Half the price' });
  const { status, text } = await portal
    .browser()
    .post(`${path}/decline`, { ...form?.fields, reason: 'Too dear', confirm: 'yes' });
  expect(status).toBe(422);
  expect(text).toContain('The quote was changed in the meantime.');
  expect(text).toContain('Half the price');
  expect(await record(`quotes/${id}`)).toMatchObject({ status: 'Sent', decline: null });
});

test('when a person promises a day, then the page says it, and a day out of bounds is said to be one', async () => {
  const id = await invoice();
  const path = await linkTo('invoices', id);
  const wrong = await send(path, '/promise', { day: addDays(TODAY, 61) });
  expect([wrong.status, wrong.text.includes('Please choose a day from')]).toEqual([422, true]);
  expect((await send(path, '/promise', { day: addDays(TODAY, 5) })).status).toBe(303);
  expect(await get(path)).toContain('You said that you will pay on');
  expect(await record(`invoices/${id}`)).toMatchObject({ reminder_rest: { because: 'promise' } });
  expect(await get(`${path}?done=promised`)).toContain('We have noted the day');
  // Nothing is to be paid any more.
  await gateway.patch(`/api/v1/invoices/${id}`, { status: 'Paid' });
  expect(await get(path)).not.toContain('You said that you will pay on');
  expect(await get(`${path}?done=promised`)).not.toContain('We have noted the day');
});

test.each([
  ['/accept', 'accepted', '/decline', { ...ACCEPTED }],
  ['/decline', 'declined', '/accept', { confirm: 'yes' }],
])(
  'when a person clicks twice on %s, then the second click finds it done, and the other answer is not possible',
  async (at, done, other, given) => {
    const path = await linkTo('quotes', await quote());
    const forms = formsOf(await get(path));
    const click = async (action: string) => {
      const { fields } = forms.find((one) => one.action.endsWith(action)) ?? {};
      const answered = await portal.browser().post(`${path}${action}`, { ...fields, ...ACCEPTED, ...given });
      return [answered.status, answered.headers.get('location')];
    };

    const told = [303, `${path}?done=${done}`];
    expect([await click(at), await click(at), await click(other)]).toEqual([told, told, [409, null]]);
  },
);

test('when an address names an outcome that does not stand, then its page does not say it', async () => {
  const paths = [await linkTo('invoices', await invoice()), await linkTo('quotes', await quote())];
  for (const path of paths)
    for (const done of ['renewed', 'accepted', 'declined', 'promised'])
      expect([done, await get(`${path}?done=${done}`)]).toEqual([
        done,
        expect.not.stringMatching(/on its way|have accepted|have declined|noted the day/),
      ]);
});

test('when a person asks about a line and the owner answers, then the page shows both', async () => {
  const id = await invoice();
  const path = await linkTo('invoices', id);
  expect((await send(path, '/ask', { line: '2', text: 'What is\r\nbuilt?' })).status).toBe(303);
  expect(await get(path)).toContain('Not answered yet.');
  const [question] = await record(`questions?document_id=${id}`);
  expect(question).toMatchObject({ line: 2, line_description: 'Building', text: 'What is\nbuilt?' });
  await gateway.post(`/api/v1/questions/${question.id}/answer`, { answer: 'The mill.' });
  expect(await get(path)).toMatch(/What is\nbuilt\?[\s\S]*The mill\./);
});

test('when a quote was given to another client, then its page does not show the words of the first', async () => {
  const id = await quote();
  const path = await linkTo('quotes', id);
  expect((await send(path, '/ask', { text: 'My divorce is on 3 May: can you start later?' })).status).toBe(303);
  const other = await create(gateway, '/api/v1/clients', { name: 'Bob', email: 'bob@example.com' });
  for (const change of [{ status: 'Draft' }, { client_id: other.id }, { status: 'Sent' }])
    expect((await gateway.patch(`/api/v1/quotes/${id}`, change)).status).toBe(200);
  const given = await linkTo('quotes', id);
  const text = await get(given);
  expect(text).toContain('Building');
  expect(text).not.toContain('divorce');
  expect((await portal.browser().get(path)).status).toBe(404);

  // Its own questions are no repetition of those of the first.
  expect((await send(given, '/ask', { text: 'My divorce is on 3 May: can you start later?' })).status).toBe(303);
  expect(await get(given)).toContain('divorce');
});

describe('a link without the right', () => {
  test.each(Object.entries(CLIENT_FORMS))(
    'when %s is not among what it allows, then the form is a 404',
    async (form, { act }) => {
      const kind = act === 'accept' || form === '/ask' ? 'quotes' : 'invoices';
      const id = await (kind === 'quotes' ? quote() : invoice());
      const allowed = await linkTo(kind, id);
      const path = await linkTo(kind, id, { allow: act === 'ask' ? [] : ['ask'] });
      const own = formsOf(await get(allowed)).find(({ action }) => action.endsWith(form));
      const text = await get(path);
      expect(text).not.toContain(`${path}${form}"`);
      expect((await portal.browser().post(path + form, { ...own?.fields, ...ACCEPTED })).status).toBeGreaterThanOrEqual(
        403,
      );
      expect(await record(`${kind}/${id}`)).toMatchObject({ status: 'Sent' });
    },
  );
});

describe('hostile fields', () => {
  test('when every text is markup, then pages show it as text', async () => {
    const id = await quote();
    const path = await linkTo('quotes', id);
    const again = await send(path, '/accept', { name: HOSTILE, order_number: HOSTILE });
    expect(again.text).not.toContain('<script>alert');
    await send(path, '/ask', { text: HOSTILE });
    await send(path, '/accept', { name: HOSTILE, order_number: HOSTILE, agree: 'yes' });
    const [question] = await record(`questions?document_id=${id}`);
    await gateway.post(`/api/v1/questions/${question.id}/answer`, { answer: HOSTILE });
    const text = await get(path);
    expect(text).not.toMatch(/<script>alert|<img src=x/);
    expect(text.split(ESCAPED).length).toBeGreaterThan(2);
    expect(await record(`quotes/${id}/acceptance`)).toMatchObject({ name: HOSTILE, order_number: HOSTILE });
  });

  test.each([
    ['a line break', 'Ada\r\nBcc: eve@example.com'],
    ['a control character', 'Ada\u0000'],
    ['blanks', '   '],
    ['too many characters', 'a'.repeat(201)],
  ])('when the name has %s, then it is refused', async (_what, name) => {
    const id = await quote();
    const { status } = await send(await linkTo('quotes', id), '/accept', { ...ACCEPTED, name });
    expect(status).toBe(422);
    expect(await record(`quotes/${id}`)).toMatchObject({ status: 'Sent' });
  });

  test.each([
    ['no picture', 'data:image/png;base64,AAAA'],
    ['an SVG', `data:image/svg+xml;base64,${Buffer.from('<svg onload="alert(1)"/>').toString('base64')}`],
    ['a bomb of pixels', `data:image/png;base64,${png({ rows: Buffer.alloc(30 * 2 ** 20) }).toString('base64')}`],
    ['more than 100 KiB', `data:image/png;base64,${png({ text: Buffer.alloc(101 * 1024) }).toString('base64')}`],
  ])('when the signature is %s, then the page says so and keeps the name', async (_what, drawn) => {
    const { status, text } = await send(await linkTo('quotes', await quote()), '/accept', { ...ACCEPTED, drawn });
    expect(status).toBe(422);
    expect(text).toContain('The drawn signature could not be read.');
    expect(text).toContain('value="Ada Lovelace"');
  });

  test('when the signature has 10 MB, then the request is refused before it is read', async () => {
    const id = await quote();
    const { status } = await send(await linkTo('quotes', id), '/accept', { ...ACCEPTED, drawn: 'A'.repeat(10 ** 7) });
    expect(status).toBe(413);
    expect(await record(`quotes/${id}`)).toMatchObject({ status: 'Sent' });
  });
});

test.each(['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pt'])(
  'when the account writes %s, then its forms and the sentence of the evidence do, too',
  async (language) => {
    await gateway.patch('/api/v1/account', { locale: language });
    const { accept, decline, ask } = pageWords(language).answers;
    const id = await quote();
    const path = await linkTo('quotes', id);
    const text = await get(path);
    for (const word of [accept.button, decline.button, ask.button]) expect(text).toContain(word);
    const { problems } = pageWords(language).answers;
    expect((await send(path, '/accept', {})).text).toContain(problems.name);
    await send(path, '/accept', ACCEPTED);
    const { quote_number } = await record(`quotes/${id}`);
    const { agreement } = await record(`quotes/${id}/acceptance`);
    expect(agreement.startsWith(accept.agree(quote_number, '').slice(0, 5))).toBe(true);
    await gateway.patch('/api/v1/account', { locale: 'en-US' });
  },
);

/** A picture of a canvas. @param rows other bytes than its size says. @param text a chunk that is not seen. */
function png({ rows = Buffer.alloc(2 * 17), text }: { rows?: Buffer; text?: Buffer } = {}): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
  };
  const head = chunk('IHDR', Buffer.from('00000004000000020806000000', 'hex'));
  const others = text ? [chunk('tEXt', text)] : [];
  const end = chunk('IEND', Buffer.alloc(0));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    head,
    ...others,
    chunk('IDAT', deflateSync(rows)),
    end,
  ]);
}
