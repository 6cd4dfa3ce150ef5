// Checks our requests to Stripe with stripe-mock, its own model of its API, which keeps nothing and sends no events.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import getPort from 'get-port';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { makeOpenStripe } from '../../../services/portal/stripe/open-stripe.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { openOwnAccount } from '../../support/own-account.ts';
import { pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import { LOOPBACK } from '../../support/webhooks.ts';

const MODULE = 'github.com/stripe/stripe-mock@v0.203.0';
const BUILD_LIMIT_MS = 240_000;

/** Returns the program, built once on this machine, or undefined where Go or its proxy is missing. */
async function findMock(): Promise<string | undefined> {
  const folder = join(homedir(), '.cache', 'billhook', MODULE.replaceAll(/[/@]/g, '-'));
  await mkdir(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder, GOFLAGS: '-mod=mod', PATH: `${process.env['PATH']}:/usr/local/go/bin` };
  try {
    await promisify(execFile)('go', ['install', MODULE], { env, timeout: BUILD_LIMIT_MS });
    return join(folder, 'stripe-mock');
  } catch {
    process.stderr.write(
      '\nGo is not on this machine, or cannot fetch stripe-mock: requests to Stripe are NOT checked.\n\n',
    );
    return undefined;
  }
}

const program = await findMock();
const withMock = program ? test : test.skip;

let mock: ChildProcess | undefined;
let gateway: TestGateway;
let portal: TestPortal;
beforeAll(async () => {
  if (!program) return;
  const port = await getPort();
  mock = spawn(program, ['-http-addr', `127.0.0.1:${port}`, '-strict-version-check=false'], { stdio: 'ignore' });
  await eventually(async () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    ),
  );
  gateway = await startGateway();
  const open = makeOpenStripe(openOutbound({ allow: LOOPBACK }), { protocol: 'http', host: '127.0.0.1', port });
  portal = await startPortal(gateway.workspace, {
    client: { stripe: { open, origin: 'https://pay.example.com' } },
  });
});
afterAll(async () => {
  mock?.kill();
  await portal?.close();
  await gateway?.close();
});

withMock('when a client clicks, before and after another sum is due, then Stripe takes every request', async () => {
  const account = await openOwnAccount(gateway, { currency: 'EUR' });
  const body = { secret_key: `sk_test_${'k'.repeat(24)}`, signing_secret: `whsec_${'s'.repeat(32)}` };
  await gateway.call('PUT', '/api/v1/account/stripe', { body, key: account['key'] });
  const client_id = (await account.post('clients', { name: 'Ada', email: 'ada@example.com' })).id;
  const { id } = await account.post('invoices', { client_id, amount: 100, status: 'Sent', due_date: '2099-12-31' });
  const path = pathOf((await account.post(`invoices/${id}/links`, { allow: ['pay'] }))['url'] as string);
  const click = async () => {
    const { text } = await portal.browser().get(path);
    const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    return portal.browser().post(`${path}/pay/stripe`, { csrf, pay: 'yes' });
  };
  expect((await click()).status).toBe(303);
  await account.post(`invoices/${id}/payments`, { amount: 30 });
  expect((await click()).status).toBe(303);
});
