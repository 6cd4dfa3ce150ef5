// The environment of each service under `npm start`: its own variables reach it, and the renderer gets nothing else.
import { describe, expect, test } from '@jest/globals';
import { environments } from '../../../deploy/local/service-env.ts';
import { services, variablesOf } from '../deploy/configuration.ts';

/** The values that `npm start` sets itself. */
const DECIDED = {
  config: { host: '127.0.0.1', outboundAllow: '127.0.0.0/8' },
  port: 8080,
  operationsPort: 8090,
  portalPort: 8070,
  mongodbUri: 'mongodb://127.0.0.1/',
  redisUrl: 'redis://127.0.0.1/',
  secretKey: 'key',
  chromiumPath: 'chromium',
};

function environmentOf(service: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const all: Record<string, NodeJS.ProcessEnv> = environments({ ...DECIDED, env });
  return all[service] ?? {};
}

describe.each(services)('the environment of the %s', (service) => {
  test('when a variable that it reads is set, then the service gets it', () => {
    const names = variablesOf(service).map(({ name }) => name);
    const env = Object.fromEntries(names.map((name) => [name, 'set']));

    const given = environmentOf(service, env);

    expect(names.filter((name) => given[name] === undefined)).toEqual([]);
  });
});

test.each(services.filter((service) => service !== 'mail'))(
  'when the login of the SMTP server is set, then the %s does not see it',
  (service) => {
    const env = { SMTP_URL: 'smtp://secret@relay/', SMTP_URL_FILE: '/run/secret' };

    expect(Object.values(environmentOf(service, env)).filter((value) => value?.includes('secret'))).toEqual([]);
  },
);

test('when a value is in a file, then the renderer gets the name of the file', () => {
  const renderer = environmentOf('renderer', { LOG_LEVEL_FILE: '/run/level' });

  expect(renderer['LOG_LEVEL_FILE']).toBe('/run/level');
});

test("when the user's shell has other variables, then the renderer does not see them", () => {
  const env = { MONGODB_URI: 'mongodb://secret/', SECRET_KEY: 'secret', AWS_SECRET_ACCESS_KEY: 'secret', PATH: '/bin' };

  const renderer = environmentOf('renderer', env);

  expect(Object.values(renderer).filter((value) => value?.includes('secret'))).toEqual([]);
  expect(renderer['PATH']).toBe('/bin');
});
