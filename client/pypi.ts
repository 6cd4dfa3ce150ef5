// `npm run client:pypi [-- --out FOLDER]`: builds the package `billhook` for PyPI as a wheel, in dist/ unless said otherwise.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ERRORS } from '#libs/errors/declared.ts';
import { PROBLEMS } from '#libs/errors/problems.ts';
import { release } from '#libs/service/release.ts';
import { cacheFolder } from '../deploy/backends/cache-folder.ts';
import { makeOpenApi, type OpenApi } from '../services/gateway/reference/openapi.ts';
import { routes } from '../services/gateway/routes.ts';

const ROOT = join(import.meta.dirname, '..');
const SOURCE = join(import.meta.dirname, 'python');
const GENERATOR = 'openapi-python-client==0.29.1';
const TOOLS = [GENERATOR, 'setuptools==84.2.1'];

const { values } = parseArgs({ options: { out: { type: 'string', default: join(ROOT, 'dist') } } });
const out = resolve(values.out);
const bin = venvOfTools();
const folder = mkdtempSync(join(tmpdir(), 'billhook-pypi-'));
try {
  await build();
} finally {
  rmSync(folder, { recursive: true });
}

async function build(): Promise<void> {
  const document = join(folder, 'openapi.json');
  const config = join(folder, 'config.json');
  const source = join(folder, 'source');
  const code = join(source, 'billhook');
  const openApi = await makeOpenApi(routes, release());
  writeFileSync(document, JSON.stringify(openApi));
  const overrides = Object.fromEntries(fileTypes(openApi).map((type) => [type, 'application/octet-stream']));
  writeFileSync(config, JSON.stringify({ package_name_override: 'billhook', content_type_overrides: overrides }));
  mkdirSync(source);
  const meta = ['--meta', 'none', '--output-path', code];
  python(
    '-m',
    'openapi_python_client',
    'generate',
    '--path',
    document,
    '--config',
    config,
    '--fail-on-warning',
    ...meta,
  );
  cpSync(join(SOURCE, 'billhook'), code, { recursive: true });
  writeFileSync(join(code, 'py.typed'), '');
  writeFileSync(
    join(code, 'error_codes.py'),
    [
      '"""The codes of errors and of problems of fields. Later versions of the gateway may have more."""\n',
      'from typing import Literal\n',
      `ErrorCode = Literal${JSON.stringify(Object.keys(ERRORS))}`,
      `ProblemCode = Literal${JSON.stringify(Object.keys(PROBLEMS))}\n`,
    ].join('\n'),
  );
  python(join(SOURCE, 'make_operations.py'), code);
  run(join(bin, 'ruff'), [
    'format',
    '--quiet',
    '--line-length',
    '120',
    join(code, 'operations.py'),
    join(code, 'error_codes.py'),
  ]);

  const manifest = readFileSync(join(SOURCE, 'pyproject.toml'), 'utf8');
  writeFileSync(join(source, 'pyproject.toml'), manifest.replace(/^version = .*$/m, `version = "${release()}"`));
  copyFileSync(join(SOURCE, 'README.md'), join(source, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(source, 'LICENSE'));
  mkdirSync(out, { recursive: true });
  const log = python(
    '-m',
    'pip',
    'wheel',
    '--no-deps',
    '--no-build-isolation',
    '--no-index',
    '--wheel-dir',
    out,
    source,
  );
  process.stdout.write(`${join(out, /filename=(\S+)/.exec(log)?.[1] ?? '')}\n`);
}

/** Returns the types of responses that are no JSON. The generator leaves those out that it does not know, and decodes text. */
function fileTypes({ paths }: OpenApi): string[] {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const responses = operations.flatMap(({ responses }) => Object.values(responses)) as { content?: object }[];
  const types = responses.flatMap(({ content }) => Object.keys(content ?? {}));
  return [...new Set(types)].filter((type) => type !== 'application/json');
}

/** Returns the folder of programs of a virtual environment with the tools, made once and kept. */
function venvOfTools(): string {
  const venv = join(cacheFolder(process.env), `python-tools-${TOOLS.join('-').replaceAll('==', '-')}`);
  const done = join(venv, 'installed');
  const programs = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin');
  if (existsSync(done)) return programs;
  rmSync(venv, { recursive: true, force: true });
  const wanted = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))';
  if (spawnSync('python3', ['-c', wanted]).status !== 0) {
    throw new Error('the package for PyPI needs python3, 3.11 or later, with its modules venv and ensurepip');
  }
  run('python3', ['-m', 'venv', venv]);
  run(join(programs, 'python'), ['-I', '-m', 'pip', 'install', '--quiet', ...TOOLS]);
  writeFileSync(done, '');
  return programs;
}

/** Runs Python apart from modules that lie around here or are named by the environment. */
function python(...args: string[]): string {
  return run(join(bin, 'python'), ['-I', ...args]);
}

function run(program: string, args: readonly string[]): string {
  // The generator looks for ruff beside the Python that runs it.
  const path = `${dirname(program)}${delimiter}${process.env['PATH']}`;
  const env = { ...process.env, PATH: path, PIP_DISABLE_PIP_VERSION_CHECK: '1' };
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', env });
  if (status !== 0)
    throw new Error(`${program} ${args.slice(0, 4).join(' ')} failed:\n${error ?? ''}${stdout}${stderr}`);
  return stdout;
}
