// A project belongs to one client: documents of other clients cannot name it, and documents fix its client.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Quote } from '#libs/models/billing/quote.ts';
import { storedId } from '#libs/models/tenant.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, answerOf, create, createClient, createProject, eventsOf } from '../../support/records.ts';

const projects = '/api/v1/projects';
const PROBLEM = 'project_id must be a project of the same client';
const kinds = [
  ['/api/v1/invoices', { amount: 1, due_date: '2031-01-01' }, { project_id: [PROBLEM] }],
  ['/api/v1/quotes', { amount: 1 }, [PROBLEM]],
] as const;

let gateway: TestGateway;
let account: { id: string; key: string };
let ada: AnyRecord;
let grace: AnyRecord;
let project: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  ada = await createClient(gateway, {}, account);
  grace = await createClient(gateway, { name: 'Grace' }, account);
  project = await createProject(gateway, { client_id: ada.id }, account);
});

const patch = (path: string, body: object) => gateway.patch(path, body, account);
const move = (client: AnyRecord) => patch(`${projects}/${project.id}`, { client_id: client.id });

describe.each(kinds)('%s', (path, body, details) => {
  test('when a new document names a project of another client, then 400 names project_id, and no number is lost', async () => {
    const reply = await gateway.post(path, { ...body, client_id: grace.id, project_id: project.id }, account);

    expect(answerOf(reply)).toEqual([400, expect.objectContaining({ error: 'Validation failed', details })]);
    const made = await create(gateway, path, { ...body, client_id: ada.id, project_id: project.id }, account);
    expect([made.invoice_number ?? made.quote_number, made.project.id]).toEqual([
      expect.stringMatching(/-0001$/),
      project.id,
    ]);
  });
});

test('when an invoice is given a project of another client, then 400; a project of its own client is accepted', async () => {
  const { id } = await create(gateway, kinds[0][0], { ...kinds[0][1], client_id: grace.id }, account);
  const own = await createProject(gateway, { client_id: grace.id }, account);

  expect(answerOf(await patch(`${kinds[0][0]}/${id}`, { project_id: project.id }))).toEqual([
    400,
    expect.objectContaining({ error: 'Validation failed', details: { project_id: [PROBLEM] } }),
  ]);
  expect((await patch(`${kinds[0][0]}/${id}`, { project_id: own.id })).body.data.project.id).toBe(own.id);
});

describe('a project moves to another client', () => {
  test.each([
    ['invoices', kinds[0][0], { ...kinds[0][1], status: 'Sent' }],
    ['invoices', kinds[0][0], kinds[0][1]],
    ['quotes', kinds[1][0], { ...kinds[1][1], status: 'Sent' }],
  ])('when it has %s, then 409 names them, nothing changes and nothing is announced', async (name, path, body) => {
    await create(gateway, path, { ...body, client_id: ada.id, project_id: project.id }, account);
    const events = await eventsOf(account.id);

    expect(answerOf(await move(grace))).toEqual([
      409,
      expect.objectContaining({ error: `Cannot move a project with ${name} to another client` }),
    ]);
    expect((await gateway.get(`${projects}/${project.id}`, account)).body.data.client.id).toBe(ada.id);
    expect(await eventsOf(account.id)).toEqual(events);
  });

  test('when it has time, then it can move as long as none of it is billed', async () => {
    const time = { project_id: project.id, hours: 1, date: '2026-01-02' };
    const entry = await create(gateway, '/api/v1/time-entries', time, account);
    expect((await move(grace)).body.data.client.id).toBe(grace.id);
    const invoice = await create(gateway, kinds[0][0], { ...kinds[0][1], client_id: grace.id }, account);
    await TimeEntry.updateOne(
      { account_id: account.id, _id: entry.id },
      { $set: { invoice_id: storedId(invoice.id) } },
    );

    expect(answerOf(await move(ada))).toEqual([
      409,
      expect.objectContaining({ error: 'Cannot move a project with billed time to another client' }),
    ]);
  });

  test('when it is set to its current client, then the request is accepted', async () => {
    await create(gateway, kinds[1][0], { ...kinds[1][1], client_id: ada.id, project_id: project.id }, account);

    expect((await move(ada)).status).toBe(200);
    expect((await patch(`${projects}/${project.id}`, { name: 'Renamed' })).status).toBe(200);
    expect(await Quote.countDocuments({ account_id: account.id })).toBe(1);
  });
});
