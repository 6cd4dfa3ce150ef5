// Tells misspelt variables of ours from variables of other software.
import { describe, expect, test } from '@jest/globals';
import { findMisspelt, KNOWN_VARIABLES, OUR_PREFIXES } from '#libs/service/known-variables.ts';
import { services, variablesOf } from '../deploy/configuration.ts';

test('when a service reads a variable, then it is a known variable, and every known variable is read by a service', () => {
  const read = new Set(services.flatMap(variablesOf).map(({ name }) => name));

  expect([...KNOWN_VARIABLES].sort()).toEqual([...read, 'BILLHOOK_CACHE_DIR'].sort());
});

test('when a prefix is ours, then some variable begins with it', () => {
  const empty = OUR_PREFIXES.filter((prefix) => !KNOWN_VARIABLES.some((name) => name.startsWith(prefix)));

  expect(empty).toEqual([]);
});

describe('misspelt', () => {
  test.each([
    ['RENDER_CONCURENCY', 'RENDER_CONCURRENCY'],
    ['RENDERER_CONCURRENCY', 'RENDER_CONCURRENCY'],
    ['RATE_LIMIT_REQUEST', 'RATE_LIMIT_REQUESTS'],
    ['RATE_LIMIT', 'RATE_LIMIT_REQUESTS'],
    ['WEBHOOK_TIMEOUT', 'WEBHOOK_TIMEOUT_MS'],
    ['DELIVERIES_CONCURRENCY', 'DELIVERY_CONCURRENCY'],
    ['OPERATION_PORT', 'OPERATIONS_PORT'],
    ['HEALTH_PROT', 'HEALTH_PORT'],
    ['TRUSTED_PROXY', 'TRUST_PROXY'],
    ['SECRET_KEYS', 'SECRET_KEY'],
    ['SECRET_KEYFILE', 'SECRET_KEY_FILE'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['log_level', 'LOG_LEVEL'],
    ['MONGO_URI', 'MONGODB_URI'],
    ['REDIS_URI', 'REDIS_URL'],
    ['BILLHOOK_LOG_LEVEL', 'LOG_LEVEL'],
    ['BILLHOOK_PORT', 'PORT'],
  ])('when %s is set, then %s is named as the nearest', (wrong, right) => {
    expect(findMisspelt({ [wrong]: '1' })).toEqual([`${wrong} is not a variable of Billhook, did you mean ${right}?`]);
  });

  test('when one has a prefix of ours and is near to none, then those with that prefix are named', () => {
    expect(findMisspelt({ WEBHOOK_ATTEMPTS: '3' })).toEqual([
      'WEBHOOK_ATTEMPTS is not a variable of Billhook, those with its prefix are WEBHOOK_TIMEOUT_MS, WEBHOOK_RETRY_SCALE',
    ]);
  });

  test('when one letter of any name is lost, then the name is found again', () => {
    const long = KNOWN_VARIABLES.filter(({ length }) => length >= 9);

    expect(long.length).toBeGreaterThan(20);
    for (const name of long) {
      for (let index = 0; index < name.length; index += 1) {
        const wrong = name.slice(0, index) + name.slice(index + 1);
        expect(findMisspelt({ [wrong]: '1' })).toEqual([expect.stringContaining(`did you mean ${name}?`)]);
      }
    }
  });
});

describe('left alone', () => {
  test('when a variable is known, or names a file with its value, then there is no warning', () => {
    const all = KNOWN_VARIABLES.flatMap((name) => [name, `${name}_FILE`]);

    expect(findMisspelt(Object.fromEntries(all.map((name) => [name, '1'])))).toEqual([]);
  });

  test('when Kubernetes or Docker set variables for a service of any name, then there is no warning', () => {
    const env = Object.fromEntries(
      ['REDIS', 'MONGODB', 'GATEWAY', 'WEBHOOK', 'WEBHOOKS', 'DELIVERY', 'BILLHOOK', 'RENDER'].flatMap((service) => [
        [`${service}_SERVICE_HOST`, '10.0.0.1'],
        [`${service}_SERVICE_PORT`, '80'],
        [`${service}_SERVICE_PORT_HTTP`, '80'],
        [`${service}_PORT`, 'tcp://10.0.0.1:80'],
        [`${service}_PORT_80_TCP`, 'tcp://10.0.0.1:80'],
        [`${service}_PORT_80_TCP_ADDR`, '10.0.0.1'],
        [`${service}_PORT_80_TCP_PROTO`, 'tcp'],
      ]),
    );

    expect(findMisspelt(env)).toEqual([]);
  });

  test('when a platform adds its own variables for the stores, then there is no warning', () => {
    const own = { MONGO_URI: 'x', MONGODB_URL: 'x', REDIS_URI: 'x', REDIS_SSL: 'true' };

    expect(findMisspelt({ ...own, MONGODB_URI: 'x', REDIS_URL_FILE: 'x' })).toEqual([]);
    expect(findMisspelt(own)).toHaveLength(4);
  });

  test.each([
    'RENDER_SERVICE_NAME',
    'RENDER_EXTERNAL_URL',
    'REDIS_HOST',
    'MONGODB_USER',
    'HOSTNAME',
    'SECRET_KEY_BASE',
    'LOG_FILE',
    'CHROME_PATH',
    'TRUSTED_PROXIES',
    'OTEL_SERVICE_NAME',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'PORTS',
    'RENDERERS',
    'npm_config_loglevel',
  ])('when %s is set, then there is no warning', (name) => {
    expect(findMisspelt({ [name]: '1' })).toEqual([]);
  });

  test('when a misspelt one is empty, then it counts as not set', () => {
    expect(findMisspelt({ RENDER_CONCURENCY: '' })).toEqual([]);
  });
});
