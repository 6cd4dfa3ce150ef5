// Error messages for the operator.
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import express from 'express';
import { appError } from '#libs/errors.ts';
import { sendProblem } from '../../../services/operations/views/problem.ts';
import { testLog } from '../../support/workspace.ts';

test.each([
  ['is expected and explained', appError('too_many_waiting_changes'), 503, 'Too many changes are waiting'],
  ['is a bug', new Error('secret detail'), 500, 'Something went wrong here'],
])('when the error %s, then the page has its status and message', async (_what, error, status, words) => {
  const app = express();
  app.use((request, response) => sendProblem(error, testLog, request, response));
  const server = app.listen(0);
  const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const text = await reply.text();
  server.close().closeAllConnections();

  expect([reply.status, text]).toEqual([status, expect.stringContaining(words)]);
  expect(text).not.toContain('secret detail');
});
