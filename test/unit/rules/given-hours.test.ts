// Hours as people write them are read to the second, and anything else is not guessed at.
import { expect, test } from '@jest/globals';
import { givenHours } from '#libs/rules/time/given-hours.ts';

test.each([
  [1.5, { hours: 1.5, decimals: 1 }],
  [0.1 + 0.2, { hours: 0.3, decimals: 1 }],
  [2, { hours: 2 }],
  ['1.5', { hours: 1.5, decimals: 1 }],
  ['0.70', { hours: 0.7, decimals: 2 }],
  ['1.25h', { hours: 1.25, decimals: 2 }],
  ['2', { hours: 2 }],
  ['1:30', { hours: 1.5 }],
  ['01:05', { hours: 1.0833 }],
  ['0:20', { hours: 0.3333 }],
  ['1:30:15', { hours: 1.5042 }],
  ['90m', { hours: 1.5 }],
  ['90 min', { hours: 1.5 }],
  ['1h 30m', { hours: 1.5 }],
  ['1h30m', { hours: 1.5 }],
  ['2H', { hours: 2 }],
  ['1h 0m 36s', { hours: 1.01 }],
  [' 0:06 ', { hours: 0.1 }],
])('when %j is given, then it is read', (given, expected) => {
  expect(givenHours(given)).toEqual(expected);
});

test.each([
  ...['', ' ', ':', 'h', '1:60', '1:5', '1:30:60', '-1:30', '-1', '+1', '1,5', '1.5h 30m', '1.', '.5', '1e3', '0x10'],
  ...['30m 1h', '1 30', '1h 30m 5', 'one', '١:٣٠', '1:30pm', '12345678', 'Infinity', '1d'],
])('when %j is given, then it is none', (given) => {
  expect(givenHours(given)).toBeUndefined();
});
