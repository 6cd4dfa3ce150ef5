// Actions of an operator: search, groups of failures, replay and retry of one and of many, pause and resume.
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { deliverWebhook, fanOutEvent, retryWebhook } from '#libs/jobs/catalog.ts';
import { pauseQueue } from '#libs/jobs/control.ts';
import { flushRenderRecords, Render, recordRender } from '#libs/models/documents/render-record.ts';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { advanceBulk, type BulkRecord, BulkRun, endBulk, resumeBulk } from '#libs/models/operations/bulk-run.ts';
import { findSamples } from '#libs/models/operations/queue-sample.ts';
import { acrossAccounts, newId } from '#libs/models/tenant.ts';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { sample } from '../../../services/operations/monitoring/sampler.ts';
import { countOpenDeliveries, findOutcomes } from '../../../services/operations/store/delivery-outcomes.ts';
import { nextDeliveries, SEARCH_LIMIT_MS } from '../../../services/operations/store/delivery-search.ts';
import { findRenderFailures, findRenderSpeed } from '../../../services/operations/store/render-search.ts';
import { type Browser, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { addFailedJobs } from '../../support/dashboard/failed-jobs.ts';
import { addDelivery, addEndpoint, addRender } from '../../support/dashboard/records.ts';
import { eventually } from '../../support/eventually.ts';
import { plansOf } from '../../support/plans.ts';

let dashboard: TestDashboard;
let operator: Browser & { name: string };
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  operator = await dashboard.login('operator');
  accountId = (await dashboard.workspace.account()).id;
});
beforeEach(async () => {
  endpointId = await addEndpoint(accountId);
});
afterAll(() => dashboard.close());

const deliveryOf = (id: string) => Delivery.findOne({ _id: id }).setOptions(acrossAccounts).lean();
const statusesOf = async (ids: string[]) =>
  (await Promise.all(ids.map(deliveryOf))).map((delivery) => delivery?.status);
const timeText = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString().slice(0, 16);
const lastEntry = () => AuditEntry.findOne({ operator: operator.name }).sort({ _id: -1 }).lean();
/** Follows the redirect of an action. @returns its target and the text of that page. */
async function follow({ status, headers }: { status: number; headers: Headers }) {
  expect(status).toBe(303);
  const to = String(headers.get('location'));
  return { to, text: (await operator.get(to)).text };
}

describe('search', () => {
  test('when deliveries are searched by id, state, event, cause, endpoint or time, then exactly those that match are shown', async () => {
    const [failed, timedOut, fine] = await Promise.all([
      addDelivery({ accountId, endpointId, last: { errorClass: 'status', responseStatus: 503 }, minutesAgo: 10 }),
      addDelivery({ accountId, endpointId, last: { errorClass: 'timeout' }, minutesAgo: 60, eventType: 'quote.sent' }),
      addDelivery({ accountId, endpointId, status: 'delivered', last: { responseStatus: 200 }, minutesAgo: 120 }),
    ]);
    const found = async (query: Record<string, string>) => {
      const { text } = await operator.get(`/deliveries?${new URLSearchParams({ endpoint: endpointId, ...query })}`);
      const shown = [...text.matchAll(/href="\/deliveries\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
      return shown;
    };

    expect(await found({})).toEqual([failed, timedOut, fine]);
    expect(await found({ status: 'dead' })).toEqual([failed, timedOut]);
    expect(await found({ id: fine })).toEqual([fine]);
    expect(await found({ id: accountId })).toEqual([failed, timedOut, fine]);
    expect(await found({ id: endpointId })).toEqual([failed, timedOut, fine]);
    expect(await found({ id: newId() })).toEqual([]);
    expect(await found({ event: 'quote.sent' })).toEqual([timedOut]);
    expect(await found({ cause: 'status 503' })).toEqual([failed]);
    expect(await found({ cause: 'timeout' })).toEqual([timedOut]);
    expect(await found({ from: timeText(90), to: timeText(30) })).toEqual([timedOut]);
  });

  test('when documents are searched by account, request, state, cause, duration or time, then those that match are counted', async () => {
    const account = newId();
    const [quick, late] = [newId(), newId()];
    await addRender({ accountId: account, requestId: quick, durationMs: 40 });
    await addRender({
      accountId: account,
      requestId: late,
      durationMs: 30_000,
      status: 'expired',
      errorClass: 'deadline',
    });
    const count = async (query: Record<string, string>) => {
      const { text } = await operator.get(`/renders?${new URLSearchParams(query)}`);
      return Number(/(\d+) documents? match/.exec(text)?.[1]);
    };

    expect(await count({ id: account })).toBe(2);
    expect(await count({ id: late })).toBe(1);
    expect(await count({ id: account, status: 'failed,expired' })).toBe(1);
    expect(await count({ id: account, cause: 'deadline' })).toBe(1);
    expect(await count({ id: account, seconds: '2.5' })).toBe(1);
    expect(await count({ id: account, to: timeText(30) })).toBe(0);
  });

  test.each([
    ['/deliveries?status=lost', /Unknown state lost/],
    ['/deliveries?from=yesterday', /from must be a time/],
    ['/deliveries?endpoint=7', /Endpoint must be an id/],
    ['/deliveries?page=0', /Pages go from 1/],
    ['/renders?seconds=long', /Seconds must be a number/],
    ['/audit?action=lost', /Unknown action lost/],
  ])('when %s is requested, then the page says what is wrong', async (path, message) => {
    const { status, text } = await operator.get(path);

    expect(status).toBe(400);
    expect(text).toMatch(message);
  });

  test.each(['/deliveries', '/mail', '/renders', '/accounts', '/audit', '/endpoints'])(
    'when a search on %s cannot be made, then its form is shown again with what was typed, and the focus on the reason',
    async (path) => {
      const fields = [...(await operator.get(path)).text.matchAll(/<(input|select)[^>]* name="(\w+)"/g)]
        .map(([, kind = '', name = '']) => ({ kind, name }))
        // The address of a recipient is not shown again.
        .filter(({ name }) => !['csrf', 'address'].includes(name));
      const typed = new URLSearchParams(fields.map(({ name }) => [name, `typed-${name}`]));

      const { status, text } = await operator.get(`${path}?${typed}&page=0`);

      expect(status).toBe(400);
      expect(text).toMatch(/<div id="problem" tabindex="-1" autofocus[^>]*><div class="note bad" role="alert">/);
      expect(fields.length).toBeGreaterThan(0);
      for (const { name } of fields) expect(text).toContain(`value="typed-${name}"`);
      expect(text).toContain(`href="${path}" aria-current="page"`);
    },
  );

  test.each(['/deliveries/', '/endpoints/', '/bulk/'])(
    'when %s has no such record, then the page reports it',
    async (path) => {
      expect((await operator.get(path + newId())).status).toBe(404);
      expect((await operator.get(`${path}none`)).status).toBe(404);
    },
  );
});

describe('failures', () => {
  test('when many deliveries fail for one cause, then they are one row with their count and one action', async () => {
    for (const minutesAgo of [1, 2, 3]) {
      await addDelivery({ accountId, endpointId, last: { errorClass: 'status', responseStatus: 502 }, minutesAgo });
    }
    await addDelivery({
      accountId,
      endpointId,
      status: 'pending',
      last: { errorClass: 'status', responseStatus: 502 },
    });

    const { text } = await operator.get('/failures');

    const line = text.split('<tr>').find((row) => row.includes(`/endpoints/${endpointId}`));
    expect(line).toContain('status 502');
    expect(line).toContain('Replay 3…');
    expect(line?.match(/>(\d+)<\/a>/g)).toEqual(['>3</a>', '>1</a>']);
  });

  test('when the endpoint of a group was deleted, then its count links to its deliveries and no replay is offered', async () => {
    const ids = await Promise.all(
      [1, 2].map((minutesAgo) => addDelivery({ accountId, endpointId, last: { errorClass: 'timeout' }, minutesAgo })),
    );
    await WebhookEndpoint.deleteOne({ _id: endpointId, account_id: accountId });

    const { text } = await operator.get('/failures');

    const line = text.split('<tr>').find((row) => row.includes(`deleted (${endpointId})`));
    expect(line).not.toContain('Replay');
    expect(line).not.toContain('href="/endpoints/');
    const [, path] = /href="([^"]+)">2</.exec(String(line)) ?? [];
    const found = await operator.get(String(path).replaceAll('&amp;', '&'));
    expect(found.text).toContain('2 deliveries match.');
    for (const id of ids) expect(found.text).toContain(`/deliveries/${id}`);
  });

  test('when jobs fail for reasons that differ in numbers only, then they are one group', async () => {
    await addFailedJobs(dashboard.queues, dashboard.workspace, fanOutEvent, ['Page 3 crashed', 'Page 14 crashed']);

    const { text } = await operator.get('/failures');

    const line = text.split('<tr>').find((row) => row.includes('Page # crashed'));
    expect(line).toMatch(/<div>2<\/div>/);
  });
});

describe('replay', () => {
  test('when one delivery is replayed, then it is due now, the webhook services are notified, and the log names the operator', async () => {
    const id = await addDelivery({ accountId, endpointId, last: { errorClass: 'timeout' } });
    const nudges = dashboard.nudges();

    const { to, text } = await follow(await operator.post(`/deliveries/${id}/replay`));

    expect(to).toContain(`/deliveries/${id}`);
    expect(text).toContain('is sent again');
    expect(await deliveryOf(id)).toMatchObject({ status: 'pending', attempts_made: 0, due_at: expect.any(Date) });
    expect(dashboard.nudges()).toBe(nudges + 1);
    expect(await lastEntry()).toMatchObject({
      action: 'delivery.replay',
      target: id,
      outcome: 'done',
      address: '127.0.0.1',
    });
  });

  test('when a delivery no longer exists, then the page reports it', async () => {
    const { status, text } = await operator.post(`/deliveries/${newId()}/replay`);

    expect(status).toBe(404);
    expect(text).toContain('No such delivery');
  });

  test('when all deliveries of an endpoint since a time are replayed, then exactly these are sent again', async () => {
    const last = { errorClass: 'timeout' };
    const many = Array.from({ length: 120 }, (_, index) => 1 + (index % 50));
    const matching = await Promise.all(
      many.map((minutesAgo) => addDelivery({ accountId, endpointId, minutesAgo, last })),
    );
    const others = [
      await addDelivery({ accountId, endpointId, minutesAgo: 300, last }),
      await addDelivery({ accountId, endpointId, status: 'delivered', last: { responseStatus: 200 } }),
      await addDelivery({ accountId, endpointId: await addEndpoint(accountId), last }),
    ];
    const query = new URLSearchParams({ endpoint: endpointId, from: timeText(120) });
    expect((await operator.get(`/deliveries/replay?${query}`)).text).toContain('Replay 120 deliveries');

    const { to } = await follow(await operator.post('/deliveries/replay', { selection: query.toString() }));

    const text = await eventually(async () => {
      const page = await operator.get(to);
      if (!page.text.includes('120 of 120')) throw new Error(page.text.slice(page.text.indexOf('<main')));
      return page.text;
    });
    expect(text).toContain('120 deliveries go out again.');
    expect(new Set(await statusesOf(matching))).toEqual(new Set(['pending']));
    expect(await statusesOf(others)).toEqual(['dead', 'delivered', 'dead']);
    const run = await BulkRun.findOne().sort({ _id: -1 }).lean();
    expect(run).toMatchObject({ state: 'done', done: 120, skipped: 0, total: 120, operator: operator.name });
    expect(await AuditEntry.findOne({ action: 'deliveries.replay' }).lean()).toMatchObject({ outcome: 'done' });
  });

  test('when the form of a replay is sent twice, by two clicks or a reload, then one run starts', async () => {
    await addDelivery({ accountId, endpointId, status: 'delivered', last: { responseStatus: 200 } });
    const selection = `endpoint=${endpointId}&status=delivered`;
    const run = /name="run" value="([^"]+)"/.exec((await operator.get(`/deliveries/replay?${selection}`)).text)?.[1];
    const before = await BulkRun.countDocuments();

    const clicks = await Promise.all(
      [1, 2].map(() => operator.post('/deliveries/replay', { selection, run: run ?? '' })),
    );
    clicks.push(await operator.post('/deliveries/replay', { selection, run: run ?? '' }));

    const places = clicks.map(({ headers }) => headers.get('location')?.split('?')[0]);
    expect(places).toEqual(Array.from({ length: 3 }, () => `/bulk/${run}`));
    expect(await BulkRun.countDocuments()).toBe(before + 1);
    expect((await operator.get(String(clicks[2]?.headers.get('location')))).text).toContain('started already');
  });

  test('when one delivery cannot be replayed, then the run counts it as skipped and goes on', async () => {
    const ids = await Promise.all([1, 2].map(() => addDelivery({ accountId, endpointId, minutesAgo: 10 })));
    jest.spyOn(Delivery, 'findOneAndUpdate').mockImplementationOnce(() => {
      throw new Error('broken');
    });

    const selection = `endpoint=${endpointId}&status=dead`;
    const { to } = await follow(await operator.post('/deliveries/replay', { selection }));

    const run = await eventually(async () => {
      const found = await BulkRun.findById(/[\da-f-]{36}/.exec(to)?.[0]).lean();
      return found?.state !== 'running' && found;
    });
    expect(run).toMatchObject({ state: 'done', done: 1, skipped: 1 });
    expect((await statusesOf(ids)).toSorted()).toEqual(['dead', 'pending']);
  });

  test('when the process of a run was killed, then another one continues where it stopped', async () => {
    const ids = await Promise.all([1, 2, 3].map(() => addDelivery({ accountId, endpointId, minutesAgo: 10 })));
    const long = new Date(Date.now() - 60_000);
    const { _id } = await BulkRun.create({
      kind: 'replay-deliveries',
      title: 'Replay',
      selection: `endpoint=${endpointId}&status=dead`,
      state: 'running',
      total: 3,
      operator: 'another operator',
      created_at: long,
      updated_at: long,
    });
    const path = `/bulk/${String(_id)}`;
    expect((await operator.get(path)).text).toContain('interrupted');
    // The overview's numbers are at most two seconds old.
    const overview = await eventually(async () => {
      const page = await operator.get('/');
      return page.text.includes(path) && page.text;
    });
    expect(overview).toMatch(new RegExp(`note warn[^/]*href="${path}">A run was interrupted at 0 of 3`));
    expect(overview).not.toContain('Replay: 0 of 3');
    expect(overview).not.toContain('All is well.');

    await follow(await operator.post(`${path}/continue`));

    await eventually(async () => (await operator.get(path)).text.includes('3 of 3'));
    expect(await statusesOf(ids)).toEqual(['pending', 'pending', 'pending']);
    const again = await operator.post(`${path}/continue`);
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('The run is running or has ended')]);
    expect((await operator.post(`${path}/stop`)).status).toBe(409);
  });

  test('when an interrupted run is cancelled, then it stops at once and sends nothing', async () => {
    const id = await addDelivery({ accountId, endpointId });
    const long = new Date(Date.now() - 60_000);
    const { _id } = await BulkRun.create({
      kind: 'replay-deliveries',
      title: 'Replay',
      selection: `endpoint=${endpointId}&status=dead`,
      state: 'running',
      total: 1,
      operator: 'another operator',
      created_at: long,
      updated_at: long,
    });
    const path = `/bulk/${String(_id)}`;
    expect((await operator.get(path)).text).toContain(`action="${path}/stop"`);

    const { text } = await follow(await operator.post(`${path}/stop`));

    expect(text).toContain('The run is stopped.');
    expect(await BulkRun.findById(_id).lean()).toMatchObject({ state: 'stopped', done: 0 });
    expect(await statusesOf([id])).toEqual(['dead']);
  });
});

describe('taking over', () => {
  test('when another process took over a run, then the previous one counts nothing, ends nothing and is stopped', async () => {
    const { _id } = await BulkRun.create({
      kind: 'replay-deliveries',
      title: 'Replay',
      selection: 'status=dead',
      state: 'stopped',
      total: 9,
      operator: 'another operator',
      created_at: new Date(),
      updated_at: new Date(),
    });
    const before = (await resumeBulk(String(_id))) as BulkRecord;
    const now = (await resumeBulk(String(_id), new Date(Date.now() + 60_000))) as BulkRecord;

    const mayGoOn = [
      await advanceBulk(before, { done: 2, skipped: 0 }),
      await advanceBulk(now, { done: 3, skipped: 0 }),
    ];
    await endBulk(before, 'stopped');

    expect(mayGoOn).toEqual([false, true]);
    expect(await BulkRun.findById(_id).lean()).toMatchObject({ state: 'running', done: 3 });
    await endBulk(now, 'done');
    expect(await BulkRun.findById(_id).lean()).toMatchObject({ state: 'done', done: 3 });
  });

  test('when a run searches for its next deliveries, then it has the same time limit in MongoDB as any other search', async () => {
    const aggregate = jest.spyOn(Delivery.collection, 'aggregate');

    await nextDeliveries({ endpointId }, { before: new Date(), position: undefined, limit: 1 });

    expect(aggregate).toHaveBeenCalledWith(expect.anything(), expect.objectContaining({ maxTimeMS: SEARCH_LIMIT_MS }));
    aggregate.mockRestore();
  });
});

describe('queues', () => {
  test('when a queue is paused, then the overview shows a warning; when it is resumed, then the log has an entry', async () => {
    const { text } = await follow(await operator.post('/queues/deliver-webhook/pause'));
    expect(text).toContain('deliver-webhook is paused.');
    expect(await dashboard.queues.raw(deliverWebhook).isPaused()).toBe(true);
    // The overview's numbers are at most two seconds old.
    await eventually(async () => (await operator.get('/')).text.includes('deliver-webhook is PAUSED'));

    const { to } = await follow(await operator.post('/queues/deliver-webhook/resume'));
    // The browser keeps the address, and opens it when the message is no news any more.
    expect((await operator.get(to)).text).toContain('deliver-webhook is running again');
    await AuditEntry.updateOne({ action: 'queue.resume' }, { at: new Date(Date.now() - 3_600_000) });
    expect((await operator.get(to)).text).not.toContain('deliver-webhook is running again');

    expect(await dashboard.queues.raw(deliverWebhook).isPaused()).toBe(false);
    expect(await lastEntry()).toMatchObject({ action: 'queue.resume', target: 'deliver-webhook', outcome: 'done' });
  });

  test('when a failed job is retried, then it waits again; when it no longer exists, then the page reports it', async () => {
    const [id] = await addFailedJobs(dashboard.queues, dashboard.workspace, fanOutEvent, ['no route']);

    const { text } = await follow(await operator.post(`/queues/fan-out-event/jobs/${id}/retry`));
    const gone = await operator.post('/queues/fan-out-event/jobs/never-was/retry');
    const waiting = await operator.post(`/queues/fan-out-event/jobs/${id}/retry`);

    expect(text).toContain('is back in the queue');
    expect(await dashboard.queues.stateOf(fanOutEvent, String(id))).toBe('waiting');
    expect([gone.status, gone.text]).toEqual([404, expect.stringContaining('The job never-was no longer exists')]);
    expect([waiting.status, waiting.text]).toEqual([409, expect.stringContaining('is no longer failed')]);
    expect(await lastEntry()).toMatchObject({ action: 'job.retry', outcome: 'failed' });
  });

  test('when a job is shown, then its page has its records, its reason and its stack, and no content of a document', async () => {
    const [id] = await addFailedJobs(dashboard.queues, dashboard.workspace, fanOutEvent, ['no <route>']);
    const deliveryId = newId();
    const document = { clientName: 'Secret Customer' };
    const jobId = `waiting/${deliveryId}`;
    await dashboard.queues
      .raw(deliverWebhook)
      .add('deliver-webhook', { deliveryId, document }, { jobId, delay: 60_000 });

    const viewer = await dashboard.login('viewer');
    const failed = await viewer.get(`/queues/fan-out-event/jobs/${id}`);
    const waiting = await viewer.get(`/queues/deliver-webhook/jobs/${encodeURIComponent(jobId)}`);
    const queue = await viewer.get('/queues/deliver-webhook');
    const gone = await viewer.get('/queues/fan-out-event/jobs/never-was');

    expect(failed.text).toContain('no &lt;route>');
    expect(failed.text).toMatch(/Stack of the last failure[\s\S]*failed-jobs\.ts/);
    expect(failed.text).not.toContain('/remove');
    expect(waiting.text).toContain(`href="/deliveries/${deliveryId}"`);
    expect(waiting.text).not.toContain('Secret Customer');
    expect(queue.text).toMatch(new RegExp(`${encodeURIComponent(jobId)}[\\s\\S]*delayed[\\s\\S]*in [56]\\d s`));
    expect([gone.status, gone.text]).toEqual([404, expect.stringContaining('The job never-was no longer exists')]);
  });

  test('when failed jobs are removed, one or all, then they are gone, others stay, and the log has the operator', async () => {
    const reasons = ['no route', 'no route', 'no route'];
    const [id, ...others] = await addFailedJobs(dashboard.queues, dashboard.workspace, fanOutEvent, reasons);
    await dashboard.queues.raw(fanOutEvent).add('fan-out-event', {}, { jobId: 'stays' });

    const { text } = await follow(await operator.post(`/queues/fan-out-event/jobs/${id}/remove`));
    expect(text).toContain(`The job ${id} is removed.`);
    expect(await lastEntry()).toMatchObject({ action: 'job.remove', target: `fan-out-event ${id}`, outcome: 'done' });
    const [again, waiting] = [
      await operator.post(`/queues/fan-out-event/jobs/${id}/remove`),
      await operator.post('/queues/fan-out-event/jobs/stays/remove'),
    ];
    await follow(await operator.post('/queues/fan-out-event/remove'));

    expect([again.status, waiting.status]).toEqual([404, 409]);
    expect(await lastEntry()).toMatchObject({ action: 'jobs.remove', target: 'fan-out-event', outcome: 'done' });
    const states = await Promise.all(
      [id, ...others, 'stays'].map((one) => dashboard.queues.stateOf(fanOutEvent, String(one))),
    );
    expect(states).toEqual(['unknown', 'unknown', 'unknown', 'waiting']);
  });

  test('when all failed jobs are retried, then the run ends when all of them wait again', async () => {
    const reasons = Array.from({ length: 60 }, () => 'no route');
    const ids = await addFailedJobs(dashboard.queues, dashboard.workspace, deliverWebhook, reasons);

    const { to } = await follow(await operator.post('/queues/deliver-webhook/retry'));

    await eventually(async () => (await operator.get(to)).text.includes('60 of 60'));
    const states = await Promise.all(ids.map((id) => dashboard.queues.stateOf(deliverWebhook, id)));
    expect(new Set(states)).toEqual(new Set(['waiting']));
  });

  test.each([0, 51])(
    'when a retry that has done %i of 51 continues and more jobs have failed, then it ends at 51',
    async (done) => {
      const reasons = Array.from({ length: 60 }, () => 'no page');
      await addFailedJobs(dashboard.queues, dashboard.workspace, fanOutEvent, reasons);
      const { failed } = await dashboard.queues.counts(fanOutEvent);
      const { _id } = await BulkRun.create({
        kind: 'retry-jobs',
        title: 'Retry',
        selection: 'fan-out-event',
        state: 'stopped',
        total: 51,
        done,
        operator: 'another operator',
        created_at: new Date(),
        updated_at: new Date(),
      });

      await follow(await operator.post(`/bulk/${String(_id)}/continue`));

      const run = await eventually(() => BulkRun.findOne({ _id, state: 'done' }).lean());
      expect(run.done).toBe(51);
      expect((await dashboard.queues.counts(fanOutEvent)).failed).toBe(failed - (51 - done));
    },
  );

  test('when a queue does not exist, then the page reports it', async () => {
    expect((await operator.get('/queues/laundry')).status).toBe(404);
    expect((await operator.post('/queues/laundry/pause')).status).toBe(404);
  });
});

describe('charts', () => {
  test('when queues are sampled several times in a minute, then the minute keeps the worst of them', async () => {
    const { queues } = dashboard;
    await pauseQueue(queues, retryWebhook);
    for (const jobId of ['late-1', 'late-2']) await queues.raw(retryWebhook).add('retry-webhook', {}, { jobId });
    await sample(queues);
    await queues.raw(retryWebhook).remove('late-1');
    await sample(queues);

    // Samples are written without waiting for a majority, and read from one.
    const samples = await eventually(async () => {
      const found = await findSamples('retry-webhook', new Date(Date.now() - 120_000));
      return found.some(({ ready }) => ready === 2) && found;
    });
    // The dashboard samples, too, and the minute may have changed between the two samples here.
    const worst = samples.map(({ ready }) => ready).filter((ready) => ready > 0);
    expect(worst).toEqual(worst.length === 1 ? [2] : [2, 1]);
  });

  test('when callers disconnect, then overview and failures still agree on how many documents were not rendered', async () => {
    const since = new Date(Date.now() - 3_600_000);
    await addRender({ accountId, status: 'cancelled', errorClass: 'caller gone' });
    await addRender({ accountId, status: 'failed', errorClass: 'crash' });
    await addRender({ accountId, status: 'refused', errorClass: 'Validation failed' });

    const [{ minutes }, groups] = await Promise.all([findRenderSpeed(since), findRenderFailures(since, 50)]);

    const notRendered = minutes.reduce((sum, { failed }) => sum + failed, 0);
    expect(notRendered).toBeGreaterThan(1);
    expect(notRendered).toBe(groups.reduce((sum, { count }) => sum + count, 0));
  });

  test('when outcomes are counted by minute, then MongoDB reads its indexes and no delivery', async () => {
    // Hours ahead, where no other test has any.
    for (const status of ['delivered', 'delivered', 'dead', 'pending'] as const) {
      await addDelivery({ accountId, endpointId, status, minutesAgo: -600 });
    }
    await addDelivery({ accountId, endpointId, status: 'delivered', minutesAgo: -610 });

    let minutes: Awaited<ReturnType<typeof findOutcomes>> = [];
    const plans = await plansOf(Delivery.collection.name, async () => {
      minutes = await findOutcomes(new Date(Date.now() + 590 * 60_000));
    });

    const inOrder = minutes.toSorted((one, other) => one.at.getTime() - other.at.getTime());
    expect(inOrder.map(({ delivered, dead }) => ({ delivered, dead }))).toEqual([
      { delivered: 2, dead: 1 },
      { delivered: 1, dead: 0 },
    ]);
    expect(plans.map(({ docsExamined }) => docsExamined)).toEqual([0, 0]);
  });

  test('when a link has states that the form cannot combine, then the form keeps them', async () => {
    const { text } = await operator.get('/deliveries?status=dead%2Cheld%2Cdelivered');

    expect(text).toContain('<option value="dead,held,delivered" selected>dead, held, delivered</option>');
  });

  test('when a document took half a minute, then it is listed by the time of its request', async () => {
    const requestId = newId();
    const requestedAt = Date.now() - 30_000;
    recordRender({ accountId, requestId, status: 'failed', durationMs: 30_000 } as never);
    await flushRenderRecords();

    const record = await Render.findOne({ request_id: requestId, account_id: accountId }).lean();
    expect(Math.abs((record?.created_at.getTime() ?? 0) - requestedAt)).toBeLessThan(15_000);
  });

  test('when open deliveries are counted, then MongoDB reads its indexes and no delivery', async () => {
    const before = await countOpenDeliveries(1_000);
    await addDelivery({ accountId, endpointId, status: 'pending' });
    await addDelivery({ accountId, endpointId, status: 'pending', last: { errorClass: 'timeout' } });
    await addDelivery({ accountId, endpointId, status: 'held' });

    let after: unknown;
    const plans = await plansOf(Delivery.collection.name, async () => {
      after = await countOpenDeliveries(1_000);
    });

    const { pending, retrying, dead, held } = before;
    expect(after).toEqual({ pending: pending + 2, retrying: retrying + 1, dead, held: held + 1 });
    expect(plans.map(({ docsExamined }) => docsExamined)).toEqual([0, 0, 0, 0]);
  });
});

describe('messages', () => {
  test('when a link has no outcome or that of another operator, then no message is shown', async () => {
    const other = await dashboard.login('operator');
    const { to } = await follow(await operator.post('/queues/deliver-webhook/resume'));
    const id = new URL(to, dashboard.url).searchParams.get('done');

    expect((await other.get(`/?done=${id}`)).text).not.toContain('is running again');
    expect((await other.get('/?done=You+won')).text).not.toContain('You won');
  });
});
