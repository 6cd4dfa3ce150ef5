// A second account with every setting on, which gets every call of the contract suite, too: its answers are the same, byte for byte.
import { expect } from '@jest/globals';
import { type Call, callerOf, type Reply, type TestGateway } from '../gateway.ts';
import { EVERY_SETTING } from './every-setting.ts';

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIMESTAMPS = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;
/** The rate of a time entry. No field of the specification, and the settings change it. */
const RATES = /"rate":[\d.]+,"rate_from":"\w+"|"rate":null,"rate_from":null/g;

/** The credited amounts, with `cancel_with_credit_note`. No fields of the specification either. */
const CREDITED = /"amount_credited":[\d.]+,"total_credited":[\d.]+/g;

/** The warnings of an account whose country wants more on an invoice. They stand beside the record. */
const WARNED = /,"warnings":\[[^\]]*\]/g;

export type Twin = (method: string, path: string, options: Call | undefined, reply: Reply) => Promise<void>;

export async function openTwin({ url, workspace }: TestGateway): Promise<Twin> {
  const { key } = await workspace.account();
  const call = callerOf(url, key);
  const set = await call('PATCH', '/api/v1/account', { body: EVERY_SETTING });
  expect([set.status, set.body]).toMatchObject([200, { success: true }]);
  const ours = new Map<string, string>();
  const theirs = new Map<string, string>();

  /** Ids that mean the same come in the same order. */
  const learn = (reply: Reply, twin: Reply) => {
    const [own, other] = [reply, twin].map(({ body }) => JSON.stringify(body).match(UUIDS) ?? []);
    for (const [index, id] of (own ?? []).entries()) {
      const twinId = other?.[index];
      if (twinId === undefined || ours.has(id)) continue;
      ours.set(id, twinId);
      theirs.set(twinId, id);
    }
  };
  const translated = (text: string, ids: Map<string, string>) => text.replaceAll(UUIDS, (id) => ids.get(id) ?? id);
  const plain = (text: string) =>
    text
      .replaceAll(TIMESTAMPS, 'time')
      .replaceAll(RATES, 'what it would be billed at')
      .replaceAll(CREDITED, 'what was credited')
      .replaceAll(WARNED, '');

  return async (method, path, options, reply) => {
    const body = options?.body === undefined ? undefined : JSON.parse(translated(JSON.stringify(options.body), ours));
    const raw = typeof options?.raw === 'string' ? translated(options.raw, ours) : options?.raw;
    const given = { ...options, ...(body === undefined ? {} : { body }), ...(raw === undefined ? {} : { raw }) };
    const twin = await call(method, translated(path, ours), given);
    learn(reply, twin);
    const answer = translated(JSON.stringify([twin.status, twin.body]), theirs);
    expect(`${method} ${path}: ${plain(answer)}`).toBe(
      `${method} ${path}: ${plain(JSON.stringify([reply.status, reply.body]))}`,
    );
  };
}
