// PORTAL_URL is the origin that links begin with. A path would be lost: pages and their assets begin at the root.
import { expect, test } from '@jest/globals';
import { ConfigError } from '#libs/service/config-error.ts';
import { readConfig } from '../../../services/portal/config.ts';

const env = {
  MONGODB_URI: 'mongodb://127.0.0.1/billhook',
  REDIS_URL: 'redis://127.0.0.1',
  SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};
const originOf = (PORTAL_URL: string) => readConfig({ ...env, PORTAL_URL }).PORTAL_URL;

test.each([
  ['https://pay.example.com', 'https://pay.example.com'],
  ['https://pay.example.com/', 'https://pay.example.com'],
  ['http://127.0.0.1:8070', 'http://127.0.0.1:8070'],
])('when PORTAL_URL is %s, then links begin with %s', (given, origin) => {
  expect(originOf(given)).toBe(origin);
});

test.each(['https://example.com/pay', 'https://example.com/?a=1', 'https://example.com/#a'])(
  'when PORTAL_URL is %s, then that is named',
  (given) => {
    expect(() => originOf(given)).toThrow(ConfigError);
    expect(() => originOf(given)).toThrow(/PORTAL_URL.* must have no path/);
  },
);
