// The configuration page: the same as what the services read, and every variable explained.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { services, variablesOf } from '../deploy/configuration.ts';
import { configurationPage, PAGE } from './configuration-page.ts';

test('when a service reads something else than the page says, then "npm run docs" was forgotten', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(configurationPage());
});

test('when variables are listed, then each service has its own', () => {
  expect(services).toEqual(['gateway', 'mail', 'operations', 'portal', 'renderer', 'scheduler', 'webhooks']);
  expect(configurationPage()).toMatch(/\| `SECRET_KEY` \| \*\*required\*\* \| gateway, mail, portal, webhooks \|/);
  expect(configurationPage()).toMatch(
    /\| `RENDER_CONCURRENCY` \| `3` \| renderer \| Documents printed .* \*1 to 32\* \|/,
  );
});

describe.each(services)('the variables of the %s', (service) => {
  test('when one is read, then it is explained', () => {
    expect(variablesOf(service).filter(({ description }) => description === '')).toEqual([]);
  });

  test('when a variable of the same name is read elsewhere, then it means the same', () => {
    const others = services.filter((one) => one !== service).flatMap(variablesOf);
    for (const variable of variablesOf(service)) {
      for (const other of others.filter(({ name }) => name === variable.name)) expect(other).toEqual(variable);
    }
  });
});
