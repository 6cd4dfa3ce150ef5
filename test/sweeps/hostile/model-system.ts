// The service as the commands of the model see it: its two accounts, and the checks of a response.
import { expect } from '@jest/globals';
import type { Reply, TestGateway } from '../../support/gateway.ts';
import type { TestAccount } from '../../support/workspace.ts';
import type { Kept, Kind, Model, ModelAccount } from './model-state.ts';

export interface Real {
  gateway: TestGateway;
  accounts: [TestAccount, TestAccount];
}

export const EVENT_NAMES: Record<Kind, string> = {
  clients: 'client',
  projects: 'project',
  tasks: 'task',
  'time-entries': 'time_entry',
  quotes: 'quote',
  invoices: 'invoice',
};

/** The embedded records of a response, as the model knows them. */
function embedded(account: ModelAccount, { refs, frozen }: Kept) {
  const find = (kind: Kind, id: string | null | undefined) => account.records[kind].find((record) => record.id === id);
  const client = find('clients', refs.client);
  const project = find('projects', refs.project);
  return {
    ...(refs.client === undefined
      ? {}
      : { client: expect.objectContaining({ id: client?.id, name: frozen ?? client?.fields['name'] }) }),
    ...(refs.project === undefined
      ? {}
      : { project: project ? { id: project.id, name: project.fields['name'] } : null }),
  };
}

/** Everything the model knows of a record. */
export function expected(account: ModelAccount, record: Kept) {
  return expect.objectContaining({ id: record.id, ...record.fields, ...embedded(account, record) });
}

/** Reads a record and compares it. */
export async function expectStored(real: Real, model: Model, who: 0 | 1, kind: Kind, record: Kept): Promise<Reply> {
  const reply = await real.gateway.get(`/api/v1/${kind}/${record.id}`, real.accounts[who]);
  expect([reply.status, reply.body.data]).toEqual([200, expected(model.accounts[who], record)]);
  return reply;
}

/** The other account must not see it. */
export async function expectHidden(real: Real, who: 0 | 1, kind: Kind, { id }: Kept): Promise<void> {
  const reply = await real.gateway.get(`/api/v1/${kind}/${id}`, real.accounts[who === 0 ? 1 : 0]);
  expect(reply.status).toBe(404);
}
