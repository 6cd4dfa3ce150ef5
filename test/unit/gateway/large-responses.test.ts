// Large lists are made a few at a time: four of one kind for an account, and two of all kinds while other accounts have requests.
import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Response } from 'express';
import { limitLargeResponses } from '../../../services/gateway/limits/large-responses.ts';
import { eventually } from '../../support/eventually.ts';

const newResponse = () => Object.assign(new EventEmitter(), { closed: false }) as unknown as Response;

/** Requests lists that are made only by `make`. */
function openLists(accountId: string, isShared: boolean) {
  const begun: string[] = [];
  const makes: (() => void)[] = [];
  const responses: Response[] = [];
  return {
    begun,
    ask(operation: string) {
      const response = newResponse();
      responses.push(response);
      const respond = () =>
        new Promise<void>((resolve) => {
          begun.push(operation);
          makes.push(resolve);
        });
      void limitLargeResponses({ accountId, operation, response }, { isShared: () => isShared }, respond);
    },
    async make() {
      makes.shift()?.();
      await nextTurn();
    },
    async read() {
      responses.shift()?.emit('close');
      await nextTurn();
    },
  };
}

test('when other accounts have requests, then two lists of an account are made at a time, whatever their kind', async () => {
  const lists = openLists('shared', true);
  for (const operation of ['listClients', 'listInvoices', 'listQuotes']) lists.ask(operation);
  const ofOther = openLists('other', true);
  ofOther.ask('listClients');
  await nextTurn();
  expect([lists.begun, ofOther.begun]).toEqual([['listClients', 'listInvoices'], ['listClients']]);

  // Made, and not yet read by the caller. The next one is made after a pause, as long as this one took.
  await pause(500);
  await lists.make();
  expect(lists.begun).toHaveLength(2);

  await eventually(() => lists.begun.length === 3);
  expect(lists.begun[2]).toBe('listQuotes');
});

test('when an account is alone, then four lists of a kind are made at a time, and the next when one of them was read', async () => {
  const lists = openLists('alone', false);
  for (let count = 0; count < 5; count += 1) lists.ask('listClients');
  lists.ask('listInvoices');
  await nextTurn();
  const four = Array.from({ length: 4 }, () => 'listClients');
  expect(lists.begun).toEqual([...four, 'listInvoices']);
  await lists.make();
  expect(lists.begun).toHaveLength(5);

  await lists.read();

  expect(lists.begun).toEqual([...four, 'listInvoices', 'listClients']);
});
