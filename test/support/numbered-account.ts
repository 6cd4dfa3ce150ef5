// For files about numbers: a gateway, and for each test an account of its own with a client to make quotes and invoices for.
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { startGateway, type TestGateway } from './gateway.ts';
import { type AnyRecord, create, createClient } from './records.ts';
import type { TestAccount } from './workspace.ts';

interface Own {
  gateway: TestGateway;
  account: TestAccount;
  client: AnyRecord;
}

/** To be called once, at the top of a file. What `own` holds is there when a test begins. */
export function numberedAccount() {
  const own = {} as Own;
  beforeAll(async () => {
    own.gateway = await startGateway();
  });
  afterAll(() => own.gateway.close());
  beforeEach(async () => {
    own.account = await own.gateway.workspace.account();
    own.client = await createClient(own.gateway, {}, own.account);
  });
  const make = (path: string, fields: object) =>
    create(own.gateway, path, { client_id: own.client.id, amount: 1, ...fields }, own.account);
  return {
    own,
    invoice: () => make('/api/v1/invoices', { due_date: '2031-01-01' }),
    quote: () => make('/api/v1/quotes', {}),
    /** The whole answer. */
    audit: async (query = '') => (await own.gateway.get(`/api/v1/numbering/audit${query}`, own.account)).body,
  };
}
