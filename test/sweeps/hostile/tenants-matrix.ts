// Calls every operation as one account with its own and the other's ids and references, and captures every response. With TEST_FULL=1 also
// with unknown and malformed ids and parameters: `sweeps/gateway/tenancy` proves that these get the same response as the other's.

import { isFull } from '../../support/form.ts';
import type { Reply, TestGateway } from '../../support/gateway.ts';
import { filledPath, kindOf, make, operations, REFERENCES } from '../../support/operations.ts';
import { UNKNOWN_ID } from '../../support/records.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';
import { parametersOf } from '../../support/route-table.ts';
import type { TestAccount } from '../../support/workspace.ts';
import { callable, senderOf } from './json-fields.ts';

export interface Captured {
  what: string;
  text: string;
}

/** One of everything, by kind. */
export type Ids = Record<string, string>;

type Row = (typeof callable)[number];

const NO_IDS = isFull ? [UNKNOWN_ID, 'malformed', '{"$ne":null}'] : [];
const VALUES = isFull ? ['100', 'nonsense'] : ['100'];

/** @param others one of everything of the other account. @returns every response as text: status, headers, body, and the words of a PDF. */
export async function callEverything(
  gateway: TestGateway,
  caller: TestAccount,
  mark: string,
  others: Ids,
  requestId: (index: number) => string,
): Promise<Captured[]> {
  const captured: Captured[] = [];
  const keep = async (what: string, row: Row, path: string, body: unknown) => {
    const headers = { 'X-Request-Id': requestId(captured.length) };
    const reply = await gateway.call(row.method.toUpperCase(), path, {
      key: caller.key,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    captured.push({ what: `${row.operation} ${what}`, text: await textOf(reply) });
  };
  for (const row of callable) {
    const valid = row.body
      ? (JSON.parse((await senderOf(gateway, row, caller)).bodyAnd({})) as Record<string, unknown>)
      : undefined;
    const body = row.operation === 'generatePdf' ? { ...valid, clientName: `${mark}printed` } : valid;
    const at = (id: string) => filledPath(row.path, encodeURIComponent(id));
    let own = '';
    if (row.path.includes('{id}')) {
      const kind = kindOf(row.path);
      own = await make(gateway, kind, caller, mark);
      await keep('of its own', row, at(own), body);
      for (const id of [others[kind] ?? '', ...NO_IDS]) await keep(`of ${id}`, row, at(id), body);
    } else await keep('as it is', row, row.path, body);
    for (const field of Object.keys(body ?? {}).filter((name) => name in REFERENCES)) {
      const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), caller, mark) : '';
      await keep(`with the other's ${field}`, row, at(id), { ...body, [field]: others[REFERENCES[field] ?? ''] });
    }
    for (const name of Object.keys(parametersOf(row))) {
      const values = name in REFERENCES ? [others[REFERENCES[name] ?? '']] : name === 'q' ? ['', 'a', 'mark'] : VALUES;
      // A record that was only read is as it was.
      const id = own && row.method !== 'get' ? await make(gateway, kindOf(row.path), caller, mark) : own;
      for (const value of values) await keep(`by ${name}=${value}`, row, `${at(id)}?${name}=${value}`, body);
    }
  }
  return captured;
}

/** One of each kind that `operations` knows of. */
export async function makeEverything(gateway: TestGateway, account: TestAccount, mark: string): Promise<Ids> {
  const kinds = new Set(
    callable
      .filter(({ path, operation }) => path.includes('{id}') && operation in operations)
      .map(({ path }) => kindOf(path)),
  );
  const ids: Ids = {};
  for (const kind of kinds) ids[kind] = await make(gateway, kind, account, mark);
  const profile = {
    name: `${mark}issuer`,
    company: `${mark}company`,
    address: `${mark}address`,
    bank_details: `${mark}bank`,
  };
  const reply = await gateway.patch('/api/v1/account', profile, account);
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return ids;
}

async function textOf({ status, headers, body }: Reply): Promise<string> {
  const head = `${status} ${JSON.stringify([...headers])}`;
  if (!Buffer.isBuffer(body)) return `${head} ${JSON.stringify(body)}`;
  const isPdf = body.toString('latin1', 0, 5) === '%PDF-';
  return `${head} ${body.toString('latin1')} ${isPdf ? await wordsOf(body) : ''}`;
}

/** Empty for a file that a test stored in place of a document. */
async function wordsOf(pdf: Buffer): Promise<string> {
  return readPdf(pdf).then(
    ({ text }) => text,
    () => '',
  );
}

/** Names of the captured responses that contain the mark, in any case. */
export function leaksIn(captured: readonly Captured[], mark: string): string[] {
  return captured.filter(({ text }) => text.toLowerCase().includes(mark.toLowerCase())).map(({ what }) => what);
}
