// Clients that openapi-typescript and openapi-python-client make of `/openapi.json` compile, and do the month of a freelancer.
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { type DescribedSystem, FLOWS, startDescribedSystem, testWith } from '../../support/clients/described-system.ts';
import { npmTool, pythonTool, runTool } from '../../support/clients/tools.ts';
import type { TestSystem } from '../../support/system.ts';

const OPENAPI_FETCH = await npmTool('openapi-fetch-0.17.0', [
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  'typescript@5.9.3',
]);
const OPENAPI_PYTHON_CLIENT = await pythonTool('openapi-python-client-0.29.1', ['openapi-python-client==0.29.1']);

let described: DescribedSystem;
let system: TestSystem;
let scratch: string;
let document: string;
beforeAll(async () => {
  described = await startDescribedSystem();
  ({ system, scratch, document } = described);
});
afterAll(() => described.close());

/** The output of every flow. */
const DONE = {
  hours: 2.5,
  amount: 237.5,
  number: expect.stringMatching(/^INV-\d{4}$/),
  total: 1,
  pdf: '%PDF-',
  missing: [404, 'Client not found'],
};

const calling = () => ({ ...process.env, URL: system.gateway.url, KEY: system.account.key });

testWith(
  [OPENAPI_FETCH],
  'when openapi-typescript makes the types, then the flow compiles and runs with openapi-fetch',
  async (tool) => {
    const folder = join(scratch, 'fetch');
    await mkdir(folder);
    await symlink(join(tool, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await copyFile(join(FLOWS, 'openapi-fetch.ts.txt'), join(folder, 'flow.ts'));
    // Otherwise it makes every field with a default one that must be sent.
    const optionalDefaults = ['--default-non-nullable', 'false'];
    const bin = (name: string) => join(folder, 'node_modules', name);
    await runTool(
      process.execPath,
      [bin('openapi-typescript/bin/cli.js'), document, '-o', 'schema.d.ts', ...optionalDefaults],
      {
        cwd: folder,
      },
    );
    const strict = ['--strict', '--noUncheckedIndexedAccess', '--noEmit', '--allowImportingTsExtensions'];
    const modern = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom'];
    await writeFile(
      join(folder, 'process.d.ts'),
      'declare const process: { env: Record<string, string | undefined> };',
    );
    await runTool(process.execPath, [bin('typescript/bin/tsc'), ...strict, ...modern, 'flow.ts', 'process.d.ts'], {
      cwd: folder,
    });

    const printed = await runTool(process.execPath, ['flow.ts'], { cwd: folder, env: calling() });

    expect(JSON.parse(printed)).toEqual(DONE);
  },
);

testWith(
  [OPENAPI_PYTHON_CLIENT],
  'when openapi-python-client makes a client, then without a warning, and the flow runs',
  async (tool) => {
    const folder = join(scratch, 'python');
    const config = join(scratch, 'config.yaml');
    const files = ['application/pdf', 'application/xml', 'application/zip', 'message/rfc822'];
    const binary = files.map((type) => `  ${type}: application/octet-stream\n`);
    await writeFile(config, `content_type_overrides:\n${binary.join('')}`);
    const path = `${join(tool, 'bin')}:${process.env['PATH']}`;
    const env = { ...process.env, PYTHONPATH: tool, PATH: path };
    const args = ['generate', '--path', document, '--output-path', folder, '--config', config, '--fail-on-warning'];
    const run = 'import sys; from openapi_python_client.cli import app; sys.exit(app())';
    const log = await runTool('python3', ['-c', run, ...args], { env });
    expect(log).not.toMatch(/warning/i);

    const flow = join(FLOWS, 'openapi_python_client.py');
    const printed = await runTool('python3', [flow], { env: { ...calling(), PYTHONPATH: `${tool}:${folder}` } });

    expect(JSON.parse(printed)).toEqual(DONE);
  },
);
