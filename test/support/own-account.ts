// A new account that calls a gateway in short: paths below /api/v1, and a failed expectation where a create is rejected.
import { expect } from '@jest/globals';
import { auditBilledOnce } from '#libs/billing/audits/billed-once-audit.ts';
import { auditLedger } from '#libs/billing/audits/ledger-audit.ts';
import { callerOf, type TestGateway, type Verbs, verbsOf } from './gateway.ts';
import type { AnyRecord } from './records.ts';

export interface OwnAccount {
  id: string;
  key: string;
  api: Verbs;
  /** Creates and returns the record. */
  post(at: string, body: object): Promise<AnyRecord>;
  get(at: string): Promise<AnyRecord>;
  /** Posts what is to be rejected. Returns the status, and the details or the error. */
  refused(at: string, body: object): Promise<[number, unknown]>;
  /** Expects that no audit finds anything in the account. */
  sound(): Promise<void>;
}

/** @param settings of the account, as a caller sets them. */
export async function openOwnAccount(gateway: TestGateway, settings?: object): Promise<OwnAccount> {
  const { id, key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  if (settings) expect((await api.patch('/api/v1/account', settings)).status).toBe(200);
  return {
    id,
    key,
    api,
    async post(at, body) {
      const reply = await api.post(`/api/v1/${at}`, body);
      expect([at, reply.status, reply.body.error, reply.body.details]).toEqual([at, 201, undefined, undefined]);
      return reply.body.data;
    },
    get: async (at) => (await api.get(`/api/v1/${at}`)).body.data,
    async refused(at, body) {
      const { status, body: answer } = await api.post(`/api/v1/${at}`, body);
      return [status, answer.details ?? answer.error];
    },
    sound: async () => expect([...(await auditLedger(id)), ...(await auditBilledOnce(id))]).toEqual([]),
  };
}
