// Answers of clients on their page: acceptances with evidence, refusals, promises and questions, as the API shows them.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeLink } from '#libs/billing/links/make-link.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { printedContent } from '#libs/documents/printed-content.ts';
import { REFERENCE_LONGEST } from '#libs/input/kinds.ts';
import { QuoteEvidence } from '#libs/models/answers/quote-evidence.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { Message } from '#libs/models/messages/message.ts';
import { Suppression } from '#libs/models/messages/suppression.ts';
import { openSigner, SigningKey } from '#libs/models/operations/signing-key.ts';
import { findOwn } from '#libs/models/records.ts';
import { storedId } from '#libs/models/tenant.ts';
import { makeToken } from '#libs/models/token.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { resealFields } from '../../../services/admin/store/sealed-secrets.ts';
import { accept, ask, decline, promise } from '../../support/answers.ts';
import { answerCheck } from '../../support/contract/answer-check.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { inUnit, setUpMail } from '../../support/messages.ts';
import { type AnyRecord, create, createClient, eventsOf } from '../../support/records.ts';
import { emitExpirations } from '../../support/rounds.ts';
import type { TestAccount } from '../../support/workspace.ts';

const run = promisify(execFile);
const TODAY = dayIn('UTC');
const noonOf = (day: string) => new Date(`${day}T12:00:00Z`);

let gateway: TestGateway;
let account: TestAccount;
let client: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, {}, account);
});

const get = async (path: string) => (await gateway.get(`/api/v1/${path}`, account)).body.data;
const post = (path: string, body: object = {}) => gateway.post(`/api/v1/${path}`, body, account);
const patch = (path: string, body: object) => gateway.patch(`/api/v1/${path}`, body, account);
const line_items = [{ description: 'Drawings', quantity: 1, rate: 100 }];
const quoted = (more: object = {}) =>
  create(
    gateway,
    '/api/v1/quotes',
    { client_id: client.id, amount: 100, line_items, status: 'Sent', ...more },
    account,
  );
const billed = (more: object = {}) =>
  create(
    gateway,
    '/api/v1/invoices',
    { client_id: client.id, line_items, status: 'Sent', due_date: addDays(TODAY, 14), ...more },
    account,
  );
async function stored(id: string) {
  const quote = await findOwn(Quote, account.id, id);
  if (!quote) throw new Error(`the quote ${id} is gone`);
  return quote;
}
const types = () => eventsOf(account.id);
const events = async () => (await gateway.get('/api/v1/events?limit=100', account)).body.data as AnyRecord[];

describe('acceptance', () => {
  test('when the client accepts a quote, then it is Accepted, and the evidence says what was shown and typed', async () => {
    const quote = await quoted({ terms: 'Half in advance' });
    const given = { name: 'Ada Lovelace', order_number: '4711', pdf_sha256: 'ab'.repeat(32) };
    const drawn = Buffer.from('a drawn signature');
    expect(await accept(gateway.workspace, account.id, quote.id, { ...given, drawn })).toBe('done');

    expect(await get(`quotes/${quote.id}`)).toMatchObject({
      status: 'Accepted',
      acceptance: { by: 'client', withdrawn_at: null, changed: false },
    });
    expect(await types()).toEqual(expect.arrayContaining(['quote.updated', 'quote.accepted']));
    const path = `/api/v1/quotes/${quote.id}/acceptance`;
    const reply = await gateway.get(path, account);
    answerCheck((await gateway.get('/openapi.json')).body)('GET', path, reply);
    const evidence = reply.body.data;
    expect(evidence).toMatchObject({
      quote: { id: quote.id, quote_number: quote.quote_number },
      kind: 'simple_electronic_signature',
      ...given,
      address: '203.0.113.7',
      drawn_signature: `data:image/png;base64,${drawn.toString('base64')}`,
      quote_sha256: createHash('sha256').update(evidence.quote_json).digest('hex'),
    });
    expect(JSON.parse(evidence.statement)).toMatchObject({ type: 'billhook.quote-acceptance.v1', ...given });
    expect(JSON.parse(evidence.quote_json)).toMatchObject({ total: 100, terms: 'Half in advance', line_items: [{}] });
  });

  test('when the client gives an order number, then the quote, its events and its invoices have it, and nothing else is new', async () => {
    const quote = await quoted();
    const original = async () => printedContent('quote', await stored(quote.id));
    const before = await original();
    const longest = '4711'.padEnd(REFERENCE_LONGEST, 'x');
    await accept(gateway.workspace, account.id, quote.id, { order_number: longest });
    expect(await get(`quotes/${quote.id}`)).toMatchObject({
      order_reference: longest,
      acceptance: { by: 'client', changed: false },
    });
    expect(await original()).toBe(before);
    const told = (await events()).filter(({ type }) => type === 'quote.updated' || type === 'quote.accepted');
    expect(told.map(({ data }) => data.order_reference)).toEqual([longest, longest]);
    const { quote_json } = await get(`quotes/${quote.id}/acceptance`);
    expect(JSON.parse(quote_json)).toMatchObject({ order_reference: null });

    for (const part of [{ part: 'deposit', percent: 30 }, { part: 'final' }]) {
      const { body } = await post(`quotes/${quote.id}/convert`, { ...part, status: 'Sent' });
      expect(body.data).toMatchObject({ quote_part: part.part, order_reference: longest });
    }
    await patch(`quotes/${quote.id}`, { order_reference: '' });
    expect(await get(`quotes/${quote.id}`)).toMatchObject({ order_reference: null, acceptance: { changed: false } });
  });

  test('when the quote has an order reference of its owner, then that of the client is in the evidence alone', async () => {
    const quote = await quoted({ order_reference: 'PO-1' });
    await accept(gateway.workspace, account.id, quote.id, { order_number: '4711' });
    expect(await get(`quotes/${quote.id}`)).toMatchObject({ status: 'Accepted', order_reference: 'PO-1' });
    expect(await get(`quotes/${quote.id}/acceptance`)).toMatchObject({ order_number: '4711' });
    expect((await post(`quotes/${quote.id}/convert`)).body.data).toMatchObject({ order_reference: 'PO-1' });
  });

  test('when the same acceptance comes twice at once, and once more, then there is one with one event', async () => {
    const quote = await quoted();
    const once = () => accept(gateway.workspace, account.id, quote.id);
    const outcomes = await Promise.all([once(), once()]);
    expect(outcomes.toSorted()).toEqual(['done', 'done before']);
    expect(await once()).toBe('done before');
    expect((await types()).filter((type) => type === 'quote.accepted')).toHaveLength(1);
    expect(await QuoteEvidence.countDocuments({ account_id: account.id, quote_id: quote.id })).toBe(1);
  });

  test('when the owner withdraws an acceptance, then the client can accept again, and the evidence is the latest', async () => {
    const quote = await quoted();
    await accept(gateway.workspace, account.id, quote.id, { name: 'Ada' });
    await patch(`quotes/${quote.id}`, { status: 'Sent' });
    await accept(gateway.workspace, account.id, quote.id, { name: 'Grace' });
    expect(await get(`quotes/${quote.id}/acceptance`)).toMatchObject({ name: 'Grace' });
  });

  test('when the owner withdraws an acceptance, then its order number goes with it, and a reference of the owner stays', async () => {
    const quote = await quoted();
    await accept(gateway.workspace, account.id, quote.id, { order_number: '4711' });
    await patch(`quotes/${quote.id}`, { status: 'Sent' });
    expect(await get(`quotes/${quote.id}`)).toMatchObject({ order_reference: null });
    await accept(gateway.workspace, account.id, quote.id, { order_number: '4712' });
    expect(await get(`quotes/${quote.id}`)).toMatchObject({ order_reference: '4712' });
    await patch(`quotes/${quote.id}`, { status: 'Sent', order_reference: 'PO-1' });
    expect(await get(`quotes/${quote.id}`)).toMatchObject({ order_reference: 'PO-1' });

    // The client gave the number that the owner had set before.
    await accept(gateway.workspace, account.id, quote.id, { order_number: 'PO-1' });
    await patch(`quotes/${quote.id}`, { status: 'Declined' });
    expect(await get(`quotes/${quote.id}`)).toMatchObject({ order_reference: 'PO-1' });
  });

  test('when the quote changed, expired or was answered otherwise, then it cannot be accepted and nothing is kept', async () => {
    const changed = await quoted();
    const stale = { content: 'what the client saw before' };
    expect(await accept(gateway.workspace, account.id, changed.id, stale)).toBe('changed');
    const expired = await quoted({ expires_at: addDays(TODAY, -3) });
    expect(await accept(gateway.workspace, account.id, expired.id)).toBe('expired');
    const declined = await quoted();
    expect(await decline(account.id, declined.id, 'Too dear')).toBe('done');
    expect(await accept(gateway.workspace, account.id, declined.id)).toBe('not open');
    expect(await accept(gateway.workspace, account.id, (await quoted({ status: 'Draft' })).id)).toBe('not open');
    expect(await QuoteEvidence.countDocuments({ account_id: account.id })).toBe(0);
    const { status, body } = await gateway.get(`/api/v1/quotes/${changed.id}/acceptance`, account);
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'acceptance_not_found' });
  });

  test('when a client declines, then the quote shows the reason until it has another status', async () => {
    const quote = await quoted();
    expect(await decline(account.id, quote.id, 'Too dear')).toBe('done');
    expect(await decline(account.id, quote.id, 'Too dear')).toBe('done before');
    expect(await get(`quotes/${quote.id}`)).toMatchObject({ status: 'Declined', decline: { reason: 'Too dear' } });
    await patch(`quotes/${quote.id}`, { status: 'Sent' });
    expect(await get(`quotes/${quote.id}`)).toMatchObject({ status: 'Sent', decline: null });
    expect((await types()).filter((type) => type === 'quote.declined')).toHaveLength(1);
  });

  test('when a draft with evidence is deleted, then its evidence is deleted', async () => {
    const quote = await quoted();
    await accept(gateway.workspace, account.id, quote.id);
    await patch(`quotes/${quote.id}`, { status: 'Draft' });
    await gateway.delete(`/api/v1/quotes/${quote.id}`, account);
    expect(await QuoteEvidence.countDocuments({ account_id: account.id })).toBe(0);
  });
});

describe('evidence', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'evidence-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** The program of the guide, run as a stranger runs it. */
  async function check(acceptance: object, keys: object): Promise<string> {
    const guide = await readFile('docs/getting-paid.md', 'utf8');
    const [, program = ''] = /```js\n(import \{ createHash, createPublicKey[\s\S]*?)```/.exec(guide) ?? [];
    const files = { 'check.mjs': program, 'acceptance.json': acceptance, 'keys.json': keys };
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    }
    return (await run(process.execPath, ['check.mjs', 'acceptance.json', 'keys.json'], { cwd: folder })).stdout;
  }

  test('when a stranger checks it with the program of the guide, then it is genuine, and a change of anything is noticed', async () => {
    const quote = await quoted();
    await accept(gateway.workspace, account.id, quote.id, { name: 'Ada Lovelace' });
    const { body } = await gateway.get(`/api/v1/quotes/${quote.id}/acceptance`, account);
    const response = await fetch(`${gateway.url}/.well-known/billhook-keys`);
    const keys = (await response.json()) as { keys: object[] };
    expect(keys.keys).toEqual([
      { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: body.data.key_id, use: 'sig', alg: 'EdDSA' },
    ]);

    expect(await check(body, keys)).toContain('Genuine: Ada Lovelace accepted it at');
    const { statement, quote_json } = body.data;
    for (const forged of [
      { statement: statement.replace('Ada Lovelace', 'Ada Byron') },
      { quote_json: quote_json.replace('100', '900') },
    ]) {
      expect(await check({ data: { ...body.data, ...forged } }, keys)).toContain('Not genuine');
    }
  });

  test('when SECRET_KEY is replaced, then the signing key is sealed anew and stays the same', async () => {
    const fresh = randomBytes(32).toString('base64');
    const before = await openSigner(openSecretBox(gateway.workspace.secretKey));
    await resealFields(openSecretBox(`${fresh},${gateway.workspace.secretKey}`));
    const after = await openSigner(openSecretBox(fresh));
    expect([after.keyId, after.sign('x')]).toEqual([before.keyId, before.sign('x')]);
    await resealFields(openSecretBox(`${gateway.workspace.secretKey},${fresh}`));
  });

  test('when several processes need the key for the first time at once, then they make one', async () => {
    await SigningKey.deleteMany({});
    const box = openSecretBox(gateway.workspace.secretKey);
    const signers = await Promise.all([1, 2, 3, 4].map(() => openSigner(box)));
    expect(new Set(signers.map(({ keyId }) => keyId)).size).toBe(1);
    const [stored] = await SigningKey.find().lean();
    expect(stored?.sealed).not.toContain('PRIVATE KEY');
  });
});

describe('promise', () => {
  test('when the client promises a day, then reminders rest until the day after, and a second promise replaces the first', async () => {
    const invoice = await billed();
    const [first, second] = [addDays(TODAY, 3), addDays(TODAY, 60)];
    expect(await promise(account.id, invoice.id, first)).toBe('done');
    expect(await promise(account.id, invoice.id, first)).toBe('done before');
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({
      reminder_rest: { resumes_on: addDays(first, 1), because: 'promise' },
    });
    expect(await promise(account.id, invoice.id, second)).toBe('done');
    expect(await promise(account.id, invoice.id, first)).toBe('too many');
    expect(await get(`invoices/${invoice.id}/promises`)).toMatchObject([
      { promised_for: second, status: 'open', invoice: { id: invoice.id }, client: { id: client.id } },
      { promised_for: first, status: 'replaced' },
    ]);
    expect((await types()).filter((type) => type === 'client.promised')).toHaveLength(2);
  });

  test('when the same promise comes twice at once, then it is one', async () => {
    const invoice = await billed();
    const once = () => promise(account.id, invoice.id, addDays(TODAY, 3));
    expect((await Promise.all([once(), once()])).toSorted()).toEqual(['done', 'done before']);
    expect(await get(`invoices/${invoice.id}/promises`)).toHaveLength(1);
  });

  test('when the day is no day to promise, or nothing is due, then nothing is promised', async () => {
    const invoice = await billed();
    for (const day of [addDays(TODAY, -1), addDays(TODAY, 61)])
      expect(await promise(account.id, invoice.id, day)).toBe('wrong day');
    await post(`invoices/${invoice.id}/payments`);
    expect(await promise(account.id, invoice.id, TODAY)).toBe('not due');
    expect(await get(`invoices/${invoice.id}/promises`)).toEqual([]);
  });

  test('when the day passes and something is due, then the promise is broken once; a paid one is kept', async () => {
    const [late, paid, cancelled] = [await billed(), await billed(), await billed()];
    const day = addDays(TODAY, 3);
    for (const { id } of [late, paid, cancelled]) await promise(account.id, id, day);
    await post(`invoices/${late.id}/payments`, { amount: 99 });
    await post(`invoices/${paid.id}/payments`);
    await patch(`invoices/${cancelled.id}`, { status: 'Cancelled' });
    expect(await get(`invoices/${paid.id}/promises`)).toMatchObject([{ status: 'kept' }]);

    await emitExpirations(noonOf(day));
    expect(await types()).not.toContain('promise.broken');
    await Promise.all([emitExpirations(noonOf(addDays(day, 1))), emitExpirations(noonOf(addDays(day, 1)))]);
    await emitExpirations(noonOf(addDays(day, 2)));

    const broken = (await events()).filter(({ type }) => type === 'promise.broken');
    expect(broken).toMatchObject([{ data: { invoice: { id: late.id }, promised_for: day, status: 'broken' } }]);
    for (const [{ id }, status] of [
      [late, 'broken'],
      [paid, 'kept'],
      [cancelled, 'ended'],
    ] as const) {
      expect(await get(`invoices/${id}/promises`)).toMatchObject([{ status }]);
      expect(await get(`invoices/${id}`)).toMatchObject({ reminder_rest: null });
    }
  });

  test('when the owner deletes the promises, then reminders go on and the client can promise again', async () => {
    const invoice = await billed();
    for (const days of [1, 2]) await promise(account.id, invoice.id, addDays(TODAY, days));
    const { body } = await gateway.delete(`/api/v1/invoices/${invoice.id}/promises`, account);
    expect(body).toEqual({ success: true, message: 'Promises deleted' });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ reminder_rest: null });
    expect(await promise(account.id, invoice.id, addDays(TODAY, 3))).toBe('done');
  });
});

describe('question', () => {
  test('when the client asks about a line, then reminders rest until it is answered, and the answer is mailed', async () => {
    await setUpMail();
    const invoice = await billed();
    const text = 'Why so many?\nI ordered {number}.';
    const asked = { type: 'invoice', id: invoice.id, text, line: 1 } as const;
    expect(await ask(account.id, asked)).toBe('done');
    expect(await ask(account.id, asked)).toBe('done before');
    const [question] = await get('questions?status=open');
    expect(question).toMatchObject({
      document: { type: 'invoice', id: invoice.id, number: invoice.invoice_number },
      client: { id: client.id },
      ...{ line: 1, line_description: 'Drawings', text, status: 'open', answer: null },
    });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({
      reminder_rest: { resumes_on: addDays(TODAY, 14), because: 'question' },
    });

    const { status, body } = await post(`questions/${question.id}/answer`, { answer: 'One per mill.' });
    expect({ status, data: body.data }).toMatchObject({
      status: 200,
      data: { status: 'answered', answer: 'One per mill.', message_id: expect.any(String) },
    });
    expect(await get(`messages/${body.data.message_id}`)).toMatchObject({
      kind: 'answer',
      subject: `Answer to your question about ${invoice.invoice_number}`,
      recipients: [{ address: 'ada@example.com' }],
    });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ reminder_rest: null });
    expect(await get(`questions/${question.id}`)).toEqual(body.data);
    const again = await post(`questions/${question.id}/answer`, { answer: 'Two.' });
    expect({ status: again.status, error: again.body.error }).toEqual({
      status: 409,
      error: 'The question is answered already',
    });
    expect((await types()).filter((type) => /asked|question/.test(type))).toEqual([
      'client.asked',
      'question.answered',
    ]);
  });

  test('when the question came by a link in a mail, then its recipients get the answer, as long as they may have it', async () => {
    await setUpMail();
    const invoice = await billed();
    const to = ['accounting@example.com', 'bob@example.com'];
    const sent = await post(`invoices/${invoice.id}/send`, { to, cc: ['boss@example.com'] });
    const linkId = await inUnit(account.id, async (unit) => {
      const record = await findOwn(Invoice, account.id, invoice.id, unit.session);
      if (!record) throw new Error('the invoice is gone');
      const mailed = { messageId: storedId(sent.body.data.id), token: makeToken() };
      const terms = { allow: ['ask'], show_time: false } as const;
      return String((await makeLink(unit, { type: 'invoice', record, terms, mailed })).link._id);
    });
    const visitor = { linkId, address: '203.0.113.7', browser: 'Firefox' };
    const answered = async (text: string) => {
      await ask(account.id, { type: 'invoice', id: invoice.id, text, visitor });
      const [question] = await get('questions?status=open');
      const { body } = await post(`questions/${question.id}/answer`, { answer: 'Yes.' });
      const { recipients } = await get(`messages/${body.data.message_id}`);
      return recipients.map(({ address }: AnyRecord) => address);
    };

    expect(await answered('First?')).toEqual(to);
    await Suppression.create({ account_id: account.id, address: 'bob@example.com', reason: 'bounce' });
    expect(await answered('Second?')).toEqual(['accounting@example.com']);
    await patch('account', { require_client_email: false });
    await patch(`clients/${client.id}`, { email: '' });
    expect(await answered('Third?')).toEqual(['accounting@example.com']);
    await patch(`clients/${client.id}`, { email: 'ada@example.com' });
    const asked = { type: 'invoice', id: invoice.id, text: 'Fourth?', visitor } as const;
    await ask(account.id, asked);
    await gateway.call('DELETE', `/api/v1/invoices/${invoice.id}/links/${linkId}`, { key: account.key });
    expect(await answered('Fourth?')).toEqual(['ada@example.com']);
  });

  test('when the answer cannot be mailed, then it is on the page all the same', async () => {
    await setUpMail();
    const quote = await quoted();
    await ask(account.id, { type: 'quote', id: quote.id, text: 'When?' });
    await patch('account', { require_client_email: false });
    await patch(`clients/${client.id}`, { email: '' });
    const [question] = await get(`questions?document_id=${quote.id}`);
    const { body } = await post(`questions/${question.id}/answer`, { answer: 'Soon.' });
    expect(body.data).toMatchObject({ status: 'answered', answer: 'Soon.', message_id: null });
    expect(await Message.countDocuments({ account_id: account.id })).toBe(0);
  });

  test('when the quote was given to another client, then the answer to the first is not mailed', async () => {
    await setUpMail();
    const quote = await quoted();
    await ask(account.id, { type: 'quote', id: quote.id, text: 'When?' });
    const other = await createClient(gateway, { name: 'Bob', email: 'bob@example.com' }, account);
    for (const change of [{ status: 'Draft' }, { client_id: other.id }, { status: 'Sent' }])
      expect((await patch(`quotes/${quote.id}`, change)).status).toBe(200);
    const [question] = await get(`questions?document_id=${quote.id}`);
    const { body } = await post(`questions/${question.id}/answer`, { answer: 'Soon.' });
    expect(body.data).toMatchObject({ status: 'answered', client: { id: client.id }, message_id: null });
    expect(await Message.countDocuments({ account_id: account.id })).toBe(0);
  });

  test('when a question is closed, then reminders go on; the oldest that is open decides', async () => {
    const invoice = await billed();
    await ask(account.id, { type: 'invoice', id: invoice.id, text: 'First?' });
    await ask(account.id, { type: 'invoice', id: invoice.id, text: 'Second?' });
    const [second, first] = await get(`questions?document_id=${invoice.id}`);
    await post(`questions/${first.id}/close`);
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ reminder_rest: { because: 'question' } });
    const { body } = await post(`questions/${second.id}/close`);
    expect(body.data).toMatchObject({ status: 'closed', answer: null });
    expect(await get(`invoices/${invoice.id}`)).toMatchObject({ reminder_rest: null });
  });

  test('when too many questions are open, the line does not exist or the document is a draft, then none is stored', async () => {
    const invoice = await billed();
    const asking = (text: string, more: object = {}) =>
      ask(account.id, { type: 'invoice', id: invoice.id, text, ...more });
    expect(await asking('Which?', { line: 2 })).toBe('wrong line');
    for (const text of ['1?', '2?', '3?', '4?', '5?']) expect(await asking(text)).toBe('done');
    expect(await asking('6?')).toBe('too many');
    const draft = await billed({ status: 'Draft' });
    expect(await ask(account.id, { type: 'invoice', id: draft.id, text: 'What?' })).toBe('not open');
    expect(await get('questions')).toHaveLength(5);
  });
});

test('when the client is anonymised, then its words are erased, and only the evidence of a standing acceptance stays', async () => {
  const words = /zora|quillfeather/i;
  const [standing, withdrawn, declined] = [await quoted(), await quoted(), await quoted()];
  for (const { id } of [standing, withdrawn])
    await accept(gateway.workspace, account.id, id, { name: 'Zora Quillfeather', order_number: 'PO Zora 7' });
  await patch(`quotes/${withdrawn.id}`, { status: 'Sent' });
  await decline(account.id, declined.id, 'Zora does not want it');
  await ask(account.id, { type: 'quote', id: standing.id, text: 'Will Zora get it?' });
  const [question] = await get('questions');
  await post(`questions/${question.id}/answer`, { answer: 'Yes, Zora.' });

  await post(`clients/${client.id}/anonymise`);

  expect(await get(`quotes/${standing.id}/acceptance`)).toMatchObject({ name: 'Zora Quillfeather' });
  expect(await get(`quotes/${standing.id}`)).toMatchObject({ order_reference: 'PO Zora 7' });
  expect((await gateway.get(`/api/v1/quotes/${withdrawn.id}/acceptance`, account)).status).toBe(404);
  const others = [withdrawn, declined].map(({ id }) => get(`quotes/${id}`));
  for (const left of [await get('questions'), ...(await Promise.all(others)), await events()])
    expect(JSON.stringify(left)).not.toMatch(words);
});

test('when the client is anonymised, then only the evidence of the acceptance that a quote has, or was billed with, stays', async () => {
  const [again, owner, other, billedThen] = [await quoted(), await quoted(), await quoted(), await quoted()];
  for (const { id } of [again, owner, other, billedThen]) {
    await accept(gateway.workspace, account.id, id, { name: 'First' });
    if (id === billedThen.id) await post(`quotes/${id}/convert`);
    await patch(`quotes/${id}`, { status: 'Draft' });
  }
  await patch(`quotes/${again.id}`, { status: 'Sent' });
  await accept(gateway.workspace, account.id, again.id, { name: 'Second' });
  await patch(`quotes/${owner.id}`, { status: 'Accepted' });
  const { id: client_id } = await createClient(gateway, { name: 'Grace' }, account);
  await patch(`quotes/${other.id}`, { client_id });
  expect((await gateway.get(`/api/v1/quotes/${other.id}/acceptance`, account)).status).toBe(404);
  await patch(`quotes/${other.id}`, { status: 'Sent' });
  await accept(gateway.workspace, account.id, other.id, { name: 'Grace' });

  await post(`clients/${client.id}/anonymise`);

  const left = await QuoteEvidence.find({ account_id: account.id }).sort({ _id: 1 }).lean();
  expect(left.map(({ quote_id, statement }) => [String(quote_id), JSON.parse(statement).name])).toEqual([
    [billedThen.id, 'First'],
    [again.id, 'Second'],
    [other.id, 'Grace'],
  ]);
});
