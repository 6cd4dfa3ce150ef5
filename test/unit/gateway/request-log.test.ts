// The lines of the gateway's log: the path of each request, and no address of a person.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { openLoggedPath } from '../../../services/gateway/http/logged-path.ts';
import { requestLog } from '../../../services/gateway/http/request-log.ts';
import { routes } from '../../../services/gateway/routes.ts';

const ADDRESS = 'ada@example.com';
const ID = '01a21653-0c66-7a98-8219-17fde9723a4d';
const loggedPath = openLoggedPath(routes);

const addressesOf = ({ parameters = {} }: (typeof routes)[number]) =>
  Object.keys(parameters).filter((name) => !parameters[name]?.validate(ADDRESS).error);
const addressed = routes.filter((row) => addressesOf(row).length > 0);

/** Returns the path of a request, with an id for each parameter that takes no address. */
const withIds = (path: string) => path.replaceAll(/\{\w+\}/g, ID);

test('when a path takes the address of a person, then its line has the name of the parameter', () => {
  expect(addressed.map(({ operation }) => operation)).toContain('deleteSuppression');
  for (const row of addressed) {
    for (const name of addressesOf(row)) {
      const path = withIds(row.path.replace(`{${name}}`, ADDRESS));
      expect(loggedPath(`${path}?a=b`)).toBe(path.replace(ADDRESS, `{${name}}`));
      for (const url of [`${path}/more`, path.toUpperCase(), path.replace('@', '/@'), `/${path}`])
        expect([url, loggedPath(url)]).toEqual([url, expect.not.stringMatching(/ada|example/i)]);
    }
  }
});

test('when a path takes none, then its line has it as it is, without the query', () => {
  const paths = routes.filter((row) => !addressed.includes(row)).map(({ path }) => withIds(path));
  expect(paths.length).toBeGreaterThan(100);
  for (const path of [...paths, '/api/v1/suppressions/', '/nothing']) expect(loggedPath(`${path}?q=Ada`)).toBe(path);
});

test('when a request with an address is answered, then its line does not have it', async () => {
  let lines = '';
  const write = (text: string) => {
    lines += text;
  };
  const log = requestLog(pino({}, { write }), routes);
  const server = createServer((request, response) => {
    log(request, response);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}/api/v1/suppressions/ada%40example.com`, { method: 'DELETE' });
  server.close();
  await once(server, 'close');

  expect(lines).toContain('"path":"/api/v1/suppressions/{address}"');
  // The id of the request may have the letters of the name.
  expect(lines).not.toMatch(/ada(@|%40)|example/i);
});
