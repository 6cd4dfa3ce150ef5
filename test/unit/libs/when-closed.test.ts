// The cleanup of a request when its response is closed: complete, with one listener, also when the caller has left already.
import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import type { Response } from 'express';
import { openByteCapacity, reserveUntilClosed } from '#libs/http/byte-capacity.ts';
import { whenClosed } from '#libs/http/when-closed.ts';
import { openRequestFairShare } from '../../../services/gateway/limits/request-fair-share.ts';

const MIB = 1024 * 1024;
const newResponse = (closed = false) => Object.assign(new EventEmitter(), { closed }) as unknown as Response;

test('when limits count a request, its body and its response, then they share one listener, and all are freed', () => {
  const response = newResponse();
  const capacity = openByteCapacity({ perAccount: MIB, all: MIB });
  void openRequestFairShare().start('one', response);
  reserveUntilClosed(capacity, { accountId: 'one', bytes: MIB / 2 }, response);
  reserveUntilClosed(capacity, { accountId: 'one', bytes: MIB / 2 }, response);
  expect(response.listenerCount('close')).toBe(1);
  expect(() => capacity.requireRoom('one')).toThrow();

  response.emit('close');

  expect(() => capacity.requireRoom('one')).not.toThrow();
});

test('when the caller has left already, then the cleanup runs at once', () => {
  const undone: string[] = [];

  whenClosed(newResponse(true), () => undone.push('all'));

  expect(undone).toEqual(['all']);
});
