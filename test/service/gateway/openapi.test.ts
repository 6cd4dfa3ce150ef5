// The OpenAPI document is linted, and describes every operation.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OpenApi } from '../../../services/gateway/reference/openapi.ts';
import { examplesOf } from '../../support/document-examples.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { routeTable } from '../../support/route-table.ts';

let gateway: TestGateway;
let document: OpenApi;
const scratch = mkdtempSync(join(tmpdir(), 'billhook-openapi-'));
beforeAll(async () => {
  gateway = await startGateway();
  document = (await gateway.get('/openapi.json', { key: undefined })).body;
});
afterAll(async () => {
  rmSync(scratch, { recursive: true });
  await gateway.close();
});

test('when the document is linted by the strict rules, then nothing is found', () => {
  const file = join(scratch, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const cli = 'node_modules/@redocly/cli/bin/cli.js';
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'lint', file, '--format', 'stylish'], {
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off' },
  });

  expect(`${status} ${status === 0 ? '' : stdout + stderr}`).toBe('0 ');
});

test('when the table of routes is compared, then every row is described, and every body has an example', () => {
  const described = examplesOf(document);

  expect(described.map(({ operation }) => operation).toSorted()).toEqual(
    routeTable.map(({ operation }) => operation).toSorted(),
  );
  const withBody = new Set(routeTable.filter(({ body }) => body).map(({ operation }) => operation));
  expect(described.filter(({ operation, body }) => withBody.has(operation) && body === undefined)).toEqual([]);
});

test('when the table of routes is read, then each row describes its response', () => {
  const silent = routeTable.filter(({ docs, produces }) => !docs.response && !docs.message && !produces);

  expect(silent.map(({ operation }) => operation)).toEqual([]);
});

test('when an operation prints, then its 422 and 504 are documented as those of a rendered document', () => {
  const rendered = ['/api/tools/generate-pdf', '/api/v1/invoices/{id}/pdf', '/api/v1/quotes/{id}/pdf'];
  for (const path of rendered) {
    const [described] = Object.values(document.paths[path] ?? {});
    expect(described?.responses).toMatchObject({
      422: { description: expect.stringMatching(/document/i) },
      504: { description: expect.stringMatching(/document/i) },
    });
  }
});
