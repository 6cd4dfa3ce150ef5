// Failures of a round: it goes on without the record, and names what failed at its end.
import { expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { collectFailures } from '#libs/models/rounds.ts';
import { newId } from '#libs/models/tenant.ts';

const words = (count: number) => `${count} invoices could not be made`;

test('when no record failed, then there is nothing to report', () => {
  expect(() => collectFailures().report(words)).not.toThrow();
});

test('when records failed, then the error has their number, the first ids and the first cause', () => {
  const failures = collectFailures();
  const ids = Array.from({ length: 7 }, () => newId());
  for (const [index, id] of ids.entries()) failures.add(id, new Error(`cause ${index}`));

  const message = `7 invoices could not be made, such as ${ids.slice(0, 5).join(', ')}; the next round retries`;
  expect(() => failures.report(words)).toThrow(new Error(message, { cause: new Error('cause 0') }));
});

test('when the database is unavailable, then the round ends: every other record would fail as well', () => {
  const error = new mongoose.mongo.MongoNetworkError('closed');
  expect(() => collectFailures().add(newId(), error)).toThrow(error);
});
