// The dashboard of the whole system as it runs: what services really did is what an operator sees.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { insertOperator } from '#libs/models/operations/operator.ts';
import { type Browser, browserOf, PASSWORD } from '../../support/dashboard/dashboard.ts';
import { eventually } from '../../support/eventually.ts';
import { pdfOf } from '../../support/pdf-body.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';

let system: TestSystem;
let operator: Browser;
beforeAll(async () => {
  system = await startSystem();
  await system.spawn('mail');
  await insertOperator({ name: 'ada', role: 'operator', password: PASSWORD });
  operator = browserOf((await system.spawn('operations')).url);
  await operator.post('/login', { name: 'ada', password: PASSWORD });
});
afterAll(() => system.close());

const document = pdfOf('Invoice');

test('when the system runs, then its workers are connected and nothing is wrong', async () => {
  const { text } = await eventually(async () => {
    const page = await operator.get('/');
    return page.text.includes('All is well.') && page;
  });

  for (const queue of [
    'render-document',
    'load-logo',
    'fan-out-event',
    'deliver-webhook',
    'retry-webhook',
    'send-mail',
    'send-own-mail',
  ]) {
    expect(text.slice(text.indexOf('id="workers"'))).toContain(queue);
  }
});

test('when a document is printed, then the search finds it by its request', async () => {
  const { status, headers } = await system.call('POST', '/api/tools/generate-pdf', { body: document });
  expect(status).toBe(200);
  const requestId = String(headers.get('x-request-id'));

  const { text } = await eventually(async () => {
    const page = await operator.get(`/renders?id=${requestId}`);
    return page.text.includes('1 document matches.') && page;
  });

  expect(text).toMatch(/badge good">done/);
  expect(text).not.toContain('Ada Lovelace');
});

test('when the queue of documents is paused, then a caller waits, and gets the document once it is resumed', async () => {
  expect((await operator.post('/queues/render-document/pause')).status).toBe(303);
  const waiting = system.call('POST', '/api/tools/generate-pdf', { body: document });
  await eventually(async () => {
    const { text } = await operator.get('/queues/render-document');
    return text.includes('PAUSED') && text.includes('<dt>Ready</dt><dd>1</dd>');
  });

  expect((await operator.post('/queues/render-document/resume')).status).toBe(303);

  expect((await waiting).status).toBe(200);
});
