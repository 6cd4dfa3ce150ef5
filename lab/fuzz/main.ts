// `npm run fuzz`: schemathesis (PyPI) with all its checks against the OpenAPI document that a running system serves. `--help` says how.
import { spawn, spawnSync } from 'node:child_process';
import { startBackends } from '../../test/support/backends.ts';
import { makeExampleRecords } from '../../test/support/examples.ts';
import { startSystem } from '../../test/support/system.ts';
import { readCommandLine } from '../command-line.ts';

const HELP = `Sends requests that schemathesis makes from the OpenAPI document of a running system, and lists every response that it does not describe.

Usage: npm run fuzz -- [options] [-- options of schemathesis]

  --cases N   of each operation (default 450)

SCHEMATHESIS names the program, if it is not on the path.
`;

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: { cases: { type: 'string', default: '450' } },
});
const SLOWEST_SECONDS = 10;
const command = process.env['SCHEMATHESIS'] ?? 'schemathesis';

if (spawnSync(command, ['--version']).error) {
  process.stderr.write(
    'schemathesis was not found. Install it apart from the project and name it, for example:\n' +
      '  python3 -m venv ~/schemathesis && ~/schemathesis/bin/pip install schemathesis\n' +
      '  SCHEMATHESIS=~/schemathesis/bin/schemathesis npm run fuzz\n',
  );
  process.exit(2);
}

const backends = await startBackends(process.env);
process.env['TEST_MONGODB_URI'] = backends.mongodbUri;
process.env['TEST_REDIS_URL'] = backends.redisUrl;
process.env['TEST_CHROMIUM_PATH'] = backends.chromiumPath;
const limits = { RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_DOCUMENTS: '0', RATE_LIMIT_REFUSALS: '0' };
const system = await startSystem({ env: { ...limits, LOG_LEVEL: 'warn' } });
try {
  const post = (path: string, body: unknown) => system.call('POST', path, { body });
  await makeExampleRecords({ post } as never); // All it does with a gateway is to post.
  process.exitCode = await fuzz(`${system.gateway.url}/openapi.json`, system.account.key);
  // What went wrong inside is in the log alone.
  const problems = system.gateway
    .output()
    .split('\n')
    .filter((line) => line.includes('request failed'));
  process.stdout.write(`${problems.length} requests failed inside the gateway\n${problems.slice(0, 20).join('\n')}\n`);
} finally {
  await system.close();
  await backends.stop();
}

function fuzz(document: string, key: string): Promise<number> {
  const given = ['--header', `Authorization: Bearer ${key}`, '--config-file'];
  const run = ['run', document, '--checks', 'all', '--max-examples', values.cases, '--continue-on-failure'];
  const limit = ['--max-response-time', String(SLOWEST_SECONDS), '--workers', '1', ...positionals];
  const config = new URL('schemathesis.toml', import.meta.url).pathname;
  // The option of the whole program stands before the command.
  const [header, value, configFlag] = given as [string, string, string];
  const child = spawn(command, [configFlag, config, ...run, header, value, ...limit], { stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}
