// The guides: every file, metric, variable and command they name is there.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services, variablesOf } from '../deploy/configuration.ts';

const guides = ['backup', 'operate', 'scale', 'secure', 'upgrade'].map((name) => `docs/${name}.md`);
const textOf = (file: string) => readFileSync(file, 'utf8');
const all = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))];

const variables = [
  ...services.flatMap((service) => variablesOf(service).map(({ name }) => name)),
  ...all(textOf('docker-compose.yml'), /\$\{([A-Z_]+):-/g),
  ...all(globSync('{test,lab}/**/*.ts').map(textOf).join(), /process\.env\['([A-Z_]+)'\]/g),
];

test('when a page, the readme or a decision names a file in backticks, then there is one', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')];
  const files = [
    ...globSync('*.*'),
    ...globSync('.github/**/*.*'),
    ...globSync('{client,deploy,docs,lab,libs,services,test}/**/*.*'),
  ];
  // By the end of its path: a page about a service leaves out where the service is.
  const isThere = (name: string) => files.some((file) => file === name || file.endsWith(`/${name}`));
  const named = pages.flatMap((page) =>
    all(textOf(page), /`([\w.-][\w./-]*\.(?:ts|mjs|sh|md|ya?ml))`/g).map((name) => ({ page, name })),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter(({ name }) => !isThere(name))).toEqual([]);
});

describe.each(guides)('%s', (guide) => {
  const text = textOf(guide);

  test('when it names a file or a page, then that is there', () => {
    const files = all(text, /(?<![\w./])((?:deploy|docs|lab|libs|services|test)\/[\w./-]*\w)/g);
    const pages = all(text, /\]\(([^)#:]+)\)/g).map((path) => join(dirname(guide), path));
    expect([...files, ...pages].length).toBeGreaterThan(0);
    expect([...files, ...pages].filter((path) => !existsSync(path))).toEqual([]);
  });

  test('when it names a metric, then a service reports it', () => {
    const reported = textOf('libs/service/metrics.ts') + textOf('services/renderer/metrics.ts');
    const named = all(text, /`((?:bullmq|billhook|http)_[a-z_]*[a-z])[`{]/g);
    expect(named.filter((name) => !reported.includes(`'${name}'`))).toEqual([]);
  });

  test('when it names a variable, then something reads it', () => {
    const named = all(text, /(?:`|^|\s)([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])(?:`|=)/gm).map((name) =>
      name.replace(/_FILE$/, ''),
    );
    expect(named.filter((name) => !variables.includes(name))).toEqual([]);
  });

  test('when it names a command of the administrator, then there is one', () => {
    const program = textOf('services/admin/main.ts');
    const named = all(text, /\badmin (?:-- )?((?:accounts|keys|numbers|operators|queues) \w+|doctor|migrate)/g);
    const has = (command: string) =>
      command.split(' ').every((word) => new RegExp(`command\\((?:\\w+, )?'${word}[ ']`).test(program));
    expect(named.filter((command) => !has(command))).toEqual([]);
  });
});
