// `npm run client`: generates the typed client from the OpenAPI document. The repository does not keep it: `npm run typecheck`, tests and releases make it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERRORS } from '#libs/errors/declared.ts';
import { PROBLEMS } from '#libs/errors/problems.ts';
import { release } from '#libs/service/release.ts';
import { makeOpenApi, type OpenApi } from '../services/gateway/reference/openapi.ts';
import { routes } from '../services/gateway/routes.ts';

const folder = join(import.meta.dirname, 'generated');

const scratch = mkdtempSync(join(tmpdir(), 'billhook-client-'));
const document = join(scratch, 'openapi.json');
const openApi = await makeOpenApi(routes, release());
writeFileSync(document, JSON.stringify(withIterators(openApi), orString));

const redocly = join(import.meta.dirname, '../node_modules/@redocly/cli/bin/cli.js');
const file = join(folder, 'billhook.ts');
const target = ['--output', file, '--import-ext', 'ts', '--server-url', 'http://localhost:8080'];
const { status, stderr } = spawnSync(process.execPath, [redocly, 'generate-client', document, ...target], {
  encoding: 'utf8',
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
});
rmSync(scratch, { recursive: true });
if (status !== 0 || stderr.includes('is a name a generated client already declares')) {
  process.stderr.write(stderr);
  process.exit(1);
}
// The generator does not write for the strictest of our compiler's rules; the types it exports are checked where they are used.
writeFileSync(
  file,
  [
    '// A typed client of the API, made by `npm run client`. Do not change it by hand.',
    '// @ts-nocheck',
    withOwnErrors(withKeyedPostsOnly(readFileSync(file, 'utf8'))),
    union('WebhookEvent', 'Every event that a webhook call may carry.', eventNames(openApi)),
    union('ErrorCode', 'The code of every error. Later versions of the gateway may have more.', quoted(ERRORS)),
    union('ProblemCode', 'The code of every problem of a field. Later versions may have more.', quoted(PROBLEMS)),
  ].join('\n'),
);

/** A number that may be a plain decimal string, or hours in a text: this generator writes `number | string`, where others make a class of its own. */
function orString(_name: string, value: unknown): unknown {
  const {
    'x-decimal-string': isDecimal,
    'x-hours-text': isHours,
    type,
    ...rest
  } = (value ?? {}) as Record<string, unknown>;
  return isDecimal || isHours ? { ...rest, anyOf: [{ type }, { type: 'string' }] } : value;
}

/** The generator sends a key with PATCH, too, and takes what has a key for safe to send again; the API knows keys of POST alone. */
function withKeyedPostsOnly(code: string): string {
  const keyed = /\(?method === 'POST' \|\| method === 'PATCH'\)?/g;
  if (code.match(keyed)?.length !== 1) throw new Error('the generated client decides elsewhere now what gets a key');
  return code.replace(keyed, "method === 'POST'");
}

/** The generator's error knows neither the body nor the headers of the gateway's responses. */
function withOwnErrors(code: string): string {
  const own = /export class ApiError extends Error \{.*?\n\}\n/s;
  const thrown = /(await readError\((\w+)\))(\s*\))/g;
  const fromResult = 'response.statusText, envelope.error)';
  if (!own.test(code) || code.match(thrown)?.length !== 2 || !code.includes(fromResult)) {
    throw new Error('the generated client throws its errors elsewhere now');
  }
  const withHeaders = code
    .replace(own, '')
    .replace(thrown, '$1, $2.headers$3')
    .replace(fromResult, 'response.statusText, envelope.error, response.headers)');
  return `import { ApiError } from '../api-error.ts';\nexport { ApiError };\n${withHeaders}`;
}

function union(name: string, meaning: string, members: readonly string[]): string {
  return `/** ${meaning} */\nexport type ${name} =\n  | ${members.join('\n  | ')};\n`;
}

function quoted(declared: object): string[] {
  return Object.keys(declared).map((code) => `'${code}'`);
}

/** The names of the types of events, which are the bodies of `webhooks`. */
function eventNames({ webhooks }: OpenApi): string[] {
  return [...new Set(JSON.stringify(webhooks).match(/(?<="#\/components\/schemas\/)\w+Event(?=")/g))];
}

/** Lists get `pages()` and `items()`, which follow `Link: rel="next"`. */
function withIterators(document: OpenApi): OpenApi {
  for (const { get } of Object.values(document.paths)) {
    if (JSON.stringify(get?.responses['200'] ?? {}).includes('schemas/Pagination')) {
      const items = get?.operationId === 'auditNumbering' ? '/data/numbers' : '/data';
      Object.assign(get as object, { 'x-redoclyPagination': { style: 'link', items } });
    }
  }
  return document;
}
