// The page of a queue reads both stores: the message names the one that is unavailable, and the log has the error.
import { expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { orUnavailable } from '../../../services/operations/actions/known-queue.ts';

test('when Redis fails, then the message says so, and its error is the cause', async () => {
  const cause = new Error('Connection is closed.');
  const problem = orUnavailable(Promise.reject(cause));

  await expect(problem).rejects.toMatchObject({
    status: 503,
    message: 'Redis is unavailable (Connection is closed.).',
    cause,
  });
});

test('when MongoDB fails, then Redis is not blamed', async () => {
  const error = new mongoose.mongo.MongoNetworkError('closed');

  await expect(orUnavailable(Promise.reject(error))).rejects.toBe(error);
});
