// Walks through a system that runs under compose: an account, a document, a client, its webhook, and what a renderer cannot reach.
import assert from 'node:assert/strict';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { pdfOf } from '../../test/support/pdf-body.ts';
import { API, admin, compose, newAccount, say } from './compose.ts';

/** The user id in the images. */
const USER = 10_001;
const RECEIVER = { host: '172.31.250.1', port: 18_999 };

const received: { headers: IncomingHttpHeaders; body: string }[] = [];
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    received.push({ headers: request.headers, body: String(Buffer.concat(chunks)) });
    response.writeHead(204).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(RECEIVER.port, RECEIVER.host, resolve));

const account = await newAccount();
say('an account and a key', account.id);

const document = { ...pdfOf('Invoice'), notes: 'Grüße · 謝謝 · شكرا · תודה · धन्यवाद · ขอบคุณ' };
const pdf = await call('POST', '/api/tools/generate-pdf', document);
const bytes = Buffer.from(await pdf.arrayBuffer());
assert.equal(pdf.status, 200, String(bytes));
assert.match(bytes.toString('latin1'), /^%PDF-[\s\S]*%%EOF\s*$/);
say('a document', `${bytes.length} bytes, ${pdf.headers.get('content-disposition')}`);

const endpoint = await json('POST', '/api/v1/webhooks', {
  url: `http://${RECEIVER.host}:${RECEIVER.port}/`,
  events: ['client.created'],
});
const client = await json('POST', '/api/v1/clients', { name: 'Ada Lovelace', email: 'ada@example.com' });
say('a client', client.data.id);
for (const until = Date.now() + 20_000; received.length === 0 && Date.now() < until; )
  await new Promise((resolve) => setTimeout(resolve, 50));
assert.equal(received.length, 1, 'the webhook did not arrive');
const [delivery] = received;
assert.ok(delivery);
const event = new Webhook(endpoint.data.secret).verify(delivery.body, delivery.headers as Record<string, string>) as {
  type: string;
  data: { id: string };
};
assert.deepEqual([event.type, event.data.id], ['client.created', client.data.id]);
say('its webhook, signature verified', String(delivery.headers['webhook-id']));

// Tries a connection, as a renderer would that an attacker controls.
const dial = (target: string) =>
  `const [host, port] = '${target}'.split(':'); require('node:net').connect({ host, port, timeout: 3000 }).on('connect', () => { console.log('open'); process.exit() }).on('timeout', () => process.exit()).on('error', () => process.exit())`;
assert.match(await compose('exec', '-T', 'renderer', 'node', '-e', dial('redis:6379')), /open/);
assert.doesNotMatch(await compose('exec', '-T', 'renderer', 'node', '-e', dial('mongodb:27017')), /open/);
say('the renderer reaches redis, and no database');
assert.match(
  await compose('exec', '-T', 'renderer', 'sh', '-c', 'id -u; touch /app/x 2>&1 || true; env'),
  /^10001\n.*Read-only file system/,
);
assert.doesNotMatch(await compose('exec', '-T', 'renderer', 'env'), /MONGODB|SECRET/);
say('it is an ordinary user on a read-only root, without a secret');
const isolation = (await compose('logs', '--no-log-prefix', 'renderer'))
  .split('\n')
  .find((line) => line.includes('isolation of chromium'));
say('isolation of chromium', isolation ?? 'not logged');

process.stdout.write(await admin('doctor'));

// A backup of the running system as docs/backup.md says, and back into another database.
const folder = mkdtempSync(join(tmpdir(), 'billhook-backup-'));
chownSync(folder, USER, USER);
const backup = ['-v', `${folder}:/backups`, '--entrypoint', 'node deploy/backup/main.ts', 'admin'];
const saved = (await compose('run', '--rm', ...backup, 'save', '/backups/now')).trim();
const elsewhere = ['-e', 'MONGODB_URI=mongodb://mongodb:27017/restored?replicaSet=rs0'];
const restored = (await compose('run', '--rm', ...elsewhere, ...backup, 'restore', '/backups/now')).trim();
assert.equal(restored.replace('restore', 'save'), saved);
say('a backup, and its restoration', saved);
rmSync(folder, { recursive: true });

receiver.close();
receiver.closeAllConnections();

function call(method: string, path: string, body: unknown): Promise<Response> {
  const headers = { Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/json' };
  return fetch(API + path, { method, headers, body: JSON.stringify(body) });
}

async function json(method: string, path: string, body: unknown) {
  const response = await call(method, path, body);
  const text = await response.text();
  assert.equal(response.status, 201, text);
  return JSON.parse(text) as { data: { id: string; secret: string } };
}
