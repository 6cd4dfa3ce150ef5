// Clients that openapi-generator makes from `/openapi.json` in four languages: made without a warning, compiled, and run against a gateway.
import { copyFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { type DescribedSystem, FLOWS, startDescribedSystem, testWith } from '../../support/clients/described-system.ts';
import { javaTool, mavenTool, npmTool, programTool, pythonTool, runTool } from '../../support/clients/tools.ts';
import type { TestSystem } from '../../support/system.ts';

const VERSION = '7.26.0';
const GENERATOR = await javaTool(`openapi-generator-${VERSION}`, `openapi-generator-cli==${VERSION}`);

/** Warnings of the generator that need no change of the document. */
const KNOWN_WARNINGS: Record<string, RegExp[]> = {
  // A query parameter of the statement is called `from`, which is a keyword.
  python: [
    /OpenAPI 3\.1 support is still in beta/,
    /Failed to get the schema name: null/,
    /From \(reserved word\) cannot be used as (?:parameter|model) name/,
  ],
  // A query parameter is called `type`, which is a keyword.
  go: [/OpenAPI 3\.1 support is still in beta/, /type \(reserved word\) cannot be used as (?:parameter|model) name/],
  java: [/OpenAPI 3\.1 support is still in beta/],
  'typescript-fetch': [/OpenAPI 3\.1 support is still in beta/],
};

/** The output of every flow. */
const DONE = {
  hours: 2.5,
  quote: 98765432.19,
  amount: 237.5,
  number: expect.stringMatching(/^INV-\d{4}$/),
  // Two pages, newest first.
  names: ['Cleo', 'Ben', 'Ada'],
  pdf: '%PDF-',
  missing: [404, 'Client not found'],
};

/** Flags for a program that runs for some seconds. Optimising its code takes longer than running it. */
const JAVA_FLAGS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

let described: DescribedSystem;
let system: TestSystem;
let scratch: string;
let document: string;
beforeAll(async () => {
  described = await startDescribedSystem();
  ({ system, scratch, document } = described);
});
afterAll(() => described.close());

/** @returns all lines of the log that warn about this document. */
async function generate(generator: string, folder: string, properties = ''): Promise<string[]> {
  const { folder: tool } = GENERATOR as { folder: string };
  const jar = join(tool, 'openapi_generator_cli/openapi-generator.jar');
  const options = [
    '-g',
    generator,
    '-i',
    document,
    '-o',
    folder,
    '--additional-properties',
    `packageName=billhook${properties}`,
  ];
  const log = await runTool('java', [...JAVA_FLAGS, '-jar', jar, 'generate', ...options]);
  const known = KNOWN_WARNINGS[generator] ?? [];
  const warnings = log.split('\n').filter((line) => /\b(?:WARN|WARNING|ERROR)\b|Exception/.test(line));
  return warnings.filter((line) => !/INFO/.test(line) && !known.some((form) => form.test(line)));
}

/** Each flow has an account of its own, because it lists all clients it created. */
async function callingAsNewAccount() {
  const { key } = await system.workspace.account();
  return { ...process.env, URL: system.gateway.url, KEY: key };
}

const PYTHON = await pythonTool(`openapi-generator-${VERSION}-python`, [
  'urllib3==2.8.0',
  'python-dateutil==4.0.0',
  'pydantic==2.14.4',
  'typing-extensions==4.16.0',
]);
const GO = await programTool('go', ['version']);

testWith(
  [GENERATOR, PYTHON],
  'when openapi-generator makes a Python client, then it compiles, and the flow runs',
  async (libraries) => {
    const folder = join(scratch, 'python');
    expect(await generate('python', folder)).toEqual([]);
    await runTool('python3', ['-W', 'error', '-m', 'compileall', '-q', join(folder, 'billhook')]);

    const env = { ...(await callingAsNewAccount()), PYTHONPATH: `${libraries}:${folder}` };
    const printed = await runTool('python3', ['-W', 'error', join(FLOWS, 'openapi_generator.py')], { env });

    expect(JSON.parse(printed)).toEqual(DONE);
  },
);

testWith([GENERATOR, GO], 'when it makes a Go client, then it compiles, and the flow runs', async () => {
  const folder = join(scratch, 'go');
  expect(await generate('go', folder, ',withGoMod=false')).toEqual([]);
  await rm(join(folder, 'test'), { recursive: true });
  await writeFile(join(folder, 'go.mod'), 'module example.com/billhook\n\ngo 1.23\n');
  await mkdir(join(folder, 'flow'));
  await copyFile(join(FLOWS, 'openapi_generator.go.txt'), join(folder, 'flow/main.go'));

  await runTool('go', ['build', '-o', 'main', './flow'], { cwd: folder });
  const printed = await runTool(join(folder, 'main'), [], { env: await callingAsNewAccount() });

  expect(JSON.parse(printed)).toEqual(DONE);
});

const JAVA = await mavenTool(`openapi-generator-${VERSION}-java`, [
  'com.google.code.findbugs:jsr305:3.0.2',
  'com.squareup.okhttp3:logging-interceptor:4.12.0',
  'com.google.code.gson:gson:2.10.1',
  'io.gsonfire:gson-fire:1.9.0',
  'org.apache.commons:commons-lang3:3.18.0',
  'jakarta.annotation:jakarta.annotation-api:1.3.5',
  'jakarta.ws.rs:jakarta.ws.rs-api:2.1.6',
  'org.openapitools:jackson-databind-nullable:0.2.12',
]);

testWith([GENERATOR, JAVA], 'when it makes a Java client, then it compiles, and the flow runs', async (libraries) => {
  const folder = join(scratch, 'java');
  expect(await generate('java', folder)).toEqual([]);
  const flow = join(folder, 'OpenapiGenerator.java');
  await copyFile(join(FLOWS, 'OpenapiGenerator.java.txt'), flow);
  const path = `${libraries}/*`;

  const sources = ['-sourcepath', join(folder, 'src/main/java'), flow];
  await runTool('javac', [
    ...JAVA_FLAGS.map((flag) => `-J${flag}`),
    '-nowarn',
    '-encoding',
    'UTF-8',
    '-cp',
    path,
    '-d',
    join(folder, 'out'),
    ...sources,
  ]);
  const classes = `${join(folder, 'out')}:${path}`;
  const printed = await runTool('java', [...JAVA_FLAGS, '-cp', classes, 'OpenapiGenerator'], {
    env: await callingAsNewAccount(),
  });

  expect(JSON.parse(printed)).toEqual(DONE);
});

const TYPESCRIPT = await npmTool('typescript-5.9.3', ['typescript@5.9.3']);

testWith(
  [GENERATOR, TYPESCRIPT],
  'when it makes a typescript-fetch client, then it compiles, and the flow runs',
  async (tool) => {
    const folder = join(scratch, 'typescript');
    expect(await generate('typescript-fetch', join(folder, 'client'), ',importFileExtension=.js')).toEqual([]);
    await symlink(join(tool, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await copyFile(join(FLOWS, 'openapi-generator.ts.txt'), join(folder, 'flow.ts'));

    const modern = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom'];
    const compiler = join(folder, 'node_modules/typescript/bin/tsc');
    await runTool(process.execPath, [compiler, '--strict', ...modern, '--outDir', 'out', 'flow.ts'], { cwd: folder });
    const env = await callingAsNewAccount();
    const printed = await runTool(process.execPath, ['out/flow.js'], { cwd: folder, env });

    expect(JSON.parse(printed)).toEqual(DONE);
  },
);
