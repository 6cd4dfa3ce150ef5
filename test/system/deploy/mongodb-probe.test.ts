// The trial's MongoDB probe, run against a real MongoDB exactly as the manifest has it.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { type Child, startChild } from '../../../deploy/backends/child.ts';
import { findMongodb } from '../../../deploy/backends/mongodb.ts';
import { eventually } from '../../support/eventually.ts';
import { steadyPort } from '../../support/steady-port.ts';
import { manifest } from '../../unit/deploy/manifests.ts';

const execute = promisify(execFile);
const [{ livenessProbe, readinessProbe, lifecycle }] = manifest('StatefulSet', 'mongodb').spec.template.spec.containers;
let folder: string;
let mongod: Child;
afterAll(async () => {
  await mongod.stop();
  await rm(folder, { recursive: true });
});

test('when MongoDB has no replica set, is primary, cannot reach itself, or is stopped, then only the primary passes the probe', async () => {
  const port = await steadyPort();
  const host = `127.0.0.5:${port}`;
  folder = await mkdtemp(join(tmpdir(), 'billhook-probe-'));
  const { command } = await findMongodb({ env: { ...process.env, MONGODB_URI: '' } });
  const start = async (addresses: string) => {
    const args = [
      '--dbpath',
      folder,
      '--port',
      `${port}`,
      '--bind_ip',
      addresses,
      '--replSet',
      'rs0',
      '--nounixsocket',
    ];
    mongod = await startChild(command, args, { env: process.env, logFile: join(folder, 'mongod.log') });
  };
  const probe = async ({ exec }: { exec: { command: string[] } }) => {
    const [program = '', ...args] = exec.command.map((part) => part.replaceAll('27017', `${port}`));
    return execute(program, args).then(
      () => 'well',
      () => 'not well',
    );
  };
  const isListening = () => execute('bash', ['-c', `exec 3<> /dev/tcp/127.0.0.1/${port}`]).then(() => true);
  const prepare = () => execute('node', ['deploy/docker/prepare.ts', '--mongodb', host]);

  await start('127.0.0.1,127.0.0.5');
  await eventually(isListening);
  expect(await probe(livenessProbe)).toBe('not well');

  await prepare();
  expect([await probe(livenessProbe), await probe(readinessProbe)]).toEqual(['well', 'well']);

  await mongod.stop();
  expect(await probe(livenessProbe)).toBe('not well');

  // The member cannot reach itself, as after a restart of the pod while the name server still has the old address.
  await start('127.0.0.1');
  await eventually(isListening);
  expect(await probe(livenessProbe)).toBe('not well');
  await mongod.stop();

  await start('127.0.0.1,127.0.0.5');
  await eventually(async () => (await probe(livenessProbe)) === 'well');
});

test('when the pod starts, then its member reaches itself, whatever the name server says', () => {
  const { spec } = manifest('StatefulSet', 'mongodb').spec.template;
  const [, host] = /host: "([^":]+):27017"/.exec(lifecycle.postStart.exec.command.at(-1)) ?? [];

  expect(spec.hostAliases).toEqual([{ ip: '127.0.0.1', hostnames: [host] }]);
});
