// An account with many requests at the same time begins them in turn with others; one with few never waits.
import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import type { Response } from 'express';
import { openRequestFairShare } from '../../../services/gateway/limits/request-fair-share.ts';

const newResponse = () => Object.assign(new EventEmitter(), { closed: false }) as unknown as Response;

test('when accounts have more than four requests at the same time, then the further ones begin in turn', async () => {
  const share = openRequestFairShare();
  const begun: string[] = [];
  const begin = (accountId: string, name: string) =>
    Promise.resolve(share.start(accountId, newResponse())).then(() => void begun.push(name));
  for (const accountId of ['one', 'other']) {
    for (let count = 0; count < 4; count += 1) expect(share.start(accountId, newResponse())).toBeUndefined();
  }

  await Promise.all([begin('one', '5th'), begin('one', '6th'), begin('one', '7th'), begin('other', 'its 5th')]);

  expect(begun).toEqual(['5th', '6th', 'its 5th', '7th']);
});

test('when responses are closed, then further requests of the account begin at once again', () => {
  const share = openRequestFairShare();
  const responses = Array.from({ length: 5 }, newResponse);
  const [first] = responses.map((response) => share.start('one', response));
  expect([first, share.start('another', newResponse())]).toEqual([undefined, undefined]);
  expect(share.start('one', newResponse())).toBeInstanceOf(Promise);

  for (const response of responses) response.emit('close');

  expect(share.start('one', newResponse())).toBeUndefined();
});

test('when the caller has disconnected before its request begins, then that request does not count', () => {
  const share = openRequestFairShare();
  const gone = Object.assign(newResponse(), { closed: true });

  for (let count = 0; count < 10; count += 1) expect(share.start('one', gone)).toBeUndefined();
  expect(share.start('one', newResponse())).toBeUndefined();
});

test('when no other account had a request for a while, then none waits, until another one comes', () => {
  const share = openRequestFairShare(0);
  const start = (accountId: string) => share.start(accountId, newResponse());
  const isWaiting = (started: Promise<void> | undefined) => started !== undefined;

  expect(Array.from({ length: 10 }, () => start('one')).some(isWaiting)).toBe(false);
  expect(share.isShared()).toBe(false);

  const beside = openRequestFairShare(Number.POSITIVE_INFINITY);
  void beside.start('other', newResponse());
  const started = Array.from({ length: 10 }, () => beside.start('one', newResponse()));
  expect(started.map(isWaiting)).toEqual([false, false, false, false, true, true, true, true, true, true]);
  expect(beside.isShared()).toBe(true);
});
