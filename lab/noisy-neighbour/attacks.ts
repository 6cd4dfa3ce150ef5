// Hostile neighbours that are more than one request repeated.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { callerOf } from '../../test/support/gateway.ts';
import { type Attack, REQUESTS_PER_SECOND, type Target } from './post-steadily.ts';

const BATCH_INVOICES = 8;
const LISTED_CLIENTS = 100;
const CONNECTIONS = 2_050;

/** Two batches of the longest invoices that can be stored, again as soon as they are done. */
export const batches: Attack = async (target) => {
  const call = callerOf(target.url, target.key);
  const client = await call('POST', '/api/v1/clients', { body: { name: 'Batch', email: 'a@b.example' } });
  const line_items = Array.from({ length: 110 }, () => ({ description: 'word\n'.repeat(43), quantity: 1, rate: 1 }));
  const documents: object[] = [];
  for (let index = 0; index < BATCH_INVOICES; index += 1) {
    const body = { client_id: client.body.data.id, due_date: '2099-12-31', line_items };
    const made = await call('POST', '/api/v1/invoices', { body });
    if (made.status === 201) documents.push({ type: 'invoice', id: made.body.data.id });
  }
  target.begin();
  let count = 0;
  while (!target.signal.aborted) {
    const { status } = await call('POST', '/api/v1/documents', { body: { documents, accessible: true } });
    if (status === 202) count += 1;
    await pause(500);
  }
  return count;
};

/** Not the victims' one: limits for an address must not look as if they protected others by chance. */
const OWN_ADDRESS = '127.0.0.2';

function sockets(target: Target, count: number, text: string) {
  const { hostname, port } = new URL(target.url);
  return Array.from({ length: count }, () => {
    const socket = connect({ port: Number(port), host: hostname, localAddress: OWN_ADDRESS });
    // Ended by the gateway, which is what should happen.
    socket
      .on('error', () => undefined)
      .once('connect', () => {
        if (text !== '') socket.write(text);
      });
    // Nothing is read: without a listener the socket stays paused.
    return socket.pause();
  });
}

/** Writes `request` many times on each of a few connections and reads nothing; begins again with every one that ends. */
function neverRead(connections: number, pipelined: number, pathOf: (target: Target) => Promise<string>): Attack {
  return async (target) => {
    const path = await pathOf(target);
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${target.key}\r\n\r\n`;
    target.begin();
    let open: Socket[] = [];
    let count = 0;
    while (!target.signal.aborted) {
      open = open.filter((socket) => !socket.destroyed);
      const missing = connections - open.length;
      count += missing;
      open.push(...sockets(target, missing, request.repeat(pipelined)));
      await pause(200);
    }
    for (const socket of open) socket.destroy();
    return count;
  };
}

export const pipelinedUnread = neverRead(8, 430, async ({ url, key }) => {
  const call = callerOf(url, key);
  const client = await call('POST', '/api/v1/clients', { body: { name: 'Large', email: 'a@b.example' } });
  const line_items = Array.from({ length: 110 }, () => ({ description: 'x'.repeat(2_000), quantity: 1, rate: 1 }));
  const body = { client_id: client.body.data.id, due_date: '2099-12-31', line_items };
  const { data } = (await call('POST', '/api/v1/invoices', { body })).body;
  return `/api/v1/invoices/${data.id}`;
});

export const largeListsUnread = neverRead(4, 60, async ({ url, key }) => {
  const call = callerOf(url, key);
  for (let index = 0; index < LISTED_CLIENTS; index += 1) {
    const body = { name: `Large ${index}`, email: 'a@b.example', address: '字'.repeat(20_000) };
    await call('POST', '/api/v1/clients', { body });
  }
  return '/api/v1/clients?limit=100';
});

/** @param textOf what each connection sends. @param isDripping it sends one letter a second after it. */
export function manyConnections(textOf: (key: string) => string, isDripping: boolean): Attack {
  return async (target) => {
    const text = textOf(target.key);
    let open: Socket[] = [];
    let count = 0;
    target.begin();
    while (!target.signal.aborted) {
      open = open.filter((socket) => !socket.destroyed);
      const missing = CONNECTIONS - open.length;
      count += missing;
      // A connection that is read notices when it ends.
      open.push(...sockets(target, missing, text).map((socket) => socket.resume()));
      await pause(1_000);
      if (isDripping) for (const socket of open) if (socket.writable) socket.write('a');
    }
    for (const socket of open) socket.destroy();
    return count;
  };
}

/** Full pages of ordinary clients, one request of each key at a time. */
export const manyKeys: Attack = async (target) => {
  const { url, key, moreKeys, signal } = target;
  for (let index = 0; index < LISTED_CLIENTS; index += 1) {
    await callerOf(url, key)('POST', '/api/v1/clients', { body: { name: `Client ${index}`, email: 'a@b.example' } });
  }
  target.begin();
  let count = 0;
  const read = async (one: string) => {
    const call = callerOf(url, one);
    while (!signal.aborted) {
      count += 1;
      const { status } = await call('GET', '/api/v1/clients?limit=100');
      if (status !== 200) await pause((1_000 * moreKeys.length) / REQUESTS_PER_SECOND);
    }
  };
  await Promise.all(moreKeys.map(read));
  return count;
};

/** Each 200 ms a new connection with 8 reads of the reference and 210 documents, without a key, unread. */
export const keylessRequests: Attack = async (target) => {
  const reference = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
  const document =
    'POST /api/tools/generate-pdf HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
  const open: Socket[] = [];
  target.begin();
  while (!target.signal.aborted) {
    open.push(...sockets(target, 1, reference.repeat(8) + document.repeat(210)));
    await pause(200);
  }
  for (const socket of open) socket.destroy();
  return open.length;
};

const LONG = 'text '.repeat(4_000).trim();
const HEAVY_AT_ONCE = 16;

type Call = ReturnType<typeof callerOf>;

/** Keeps as many requests in flight as the limits let it. @param one a request. @returns how many it made. */
async function askSteadily({ signal, begin }: Target, one: () => ReturnType<Call>): Promise<number> {
  // A mistaken attack would be rejected, and show a system that bears anything.
  const first = await one();
  if (first.status >= 300) throw new Error(`the attack is rejected: ${first.status} ${JSON.stringify(first.body)}`);
  begin();
  let count = 0;
  const loop = async () => {
    while (!signal.aborted) {
      count += 1;
      const { status } = await one();
      if (status >= 300) await pause((1_000 * HEAVY_AT_ONCE) / REQUESTS_PER_SECOND);
    }
  };
  await Promise.all(Array.from({ length: HEAVY_AT_ONCE }, loop));
  return count;
}

async function sentInvoice(call: Call): Promise<{ id: string; client: string }> {
  const client = await call('POST', '/api/v1/clients', { body: { name: 'Heavy', email: 'a@b.example' } });
  const body = { client_id: client.body.data.id, due_date: '2099-12-31', amount: 1_000_000, status: 'Sent' };
  const invoice = await call('POST', '/api/v1/invoices', { body });
  return { id: invoice.body.data.id, client: client.body.data.id };
}

/** Reads of one record behind which stand hundreds of payments with long notes. */
export const heavyReads: Attack = async (target) => {
  const call = callerOf(target.url, target.key);
  const { id, client } = await sentInvoice(call);
  const path = `/api/v1/invoices/${id}/payments`;
  for (let index = 0; index < 300; index += 1) await call('POST', path, { body: { amount: 2, note: LONG } });
  const paths = [path, `/api/v1/clients/${client}/balance?as_of=2026-01-31`, `/api/v1/clients/${client}/balance`];
  let turn = 0;
  return askSteadily(target, () => call('GET', paths[turn++ % paths.length] as string));
};

/** Previews of an invoice whose lines repeat long descriptions a hundred times. */
export const lineTexts: Attack = async (target) => {
  const call = callerOf(target.url, target.key);
  const { client } = await sentInvoice(call);
  const project = await call('POST', '/api/v1/projects', { body: { name: 'Heavy', client_id: client } });
  const entry = { project_id: project.body.data.id, hours: 1, date: '2026-01-02', description: LONG.slice(0, 16_000) };
  for (let index = 0; index < 500; index += 1) await call('POST', '/api/v1/time-entries', { body: entry });
  const body = {
    client_id: client,
    group_by: 'none',
    missing_rate: 'zero',
    line_text: '{description}'.repeat(150),
  };
  return askSteadily(target, () => call('POST', '/api/v1/invoices/from-time?dry_run=true', { body }));
};

/** Refunds of one payment, as long as it takes any, and lists of it. */
export const refunds: Attack = async (target) => {
  const call = callerOf(target.url, target.key);
  const { client } = await sentInvoice(call);
  const given = { client_id: client, amount: 100_000, allocations: [], note: LONG };
  const { data } = (await call('POST', '/api/v1/payments', { body: given })).body;
  const refund = { amount: 1, reference: 'x'.repeat(140) };
  let turn = 0;
  return askSteadily(target, () => {
    turn += 1;
    return turn % 2 === 0
      ? call('GET', '/api/v1/payments?limit=100')
      : call('POST', `/api/v1/payments/${data.id}/refunds`, { body: refund });
  });
};
