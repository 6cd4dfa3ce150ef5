// A quote is open for the whole of its last day, in the time zone of the account.
import { expect, test } from '@jest/globals';
import { dayIn } from '#libs/day.ts';
import { effectiveQuoteStatus } from '#libs/models/billing/quote.ts';

const statusAt = (instant: string) =>
  effectiveQuoteStatus({ status: 'Sent', expires_at: '2026-11-30' }, dayIn('Pacific/Honolulu', new Date(instant)));

test('when it is 23:59 in Honolulu on the last day, then the quote is open; one minute later it is expired', () => {
  expect(statusAt('2026-12-01T09:59:00Z')).toBe('Sent');
  expect(statusAt('2026-12-01T10:00:00Z')).toBe('Expired');
});
