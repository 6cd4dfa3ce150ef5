// Reports over the whole account.
import { partition } from 'es-toolkit/array/partition';
import { FOLLOW_UP_KINDS, followUp } from '#libs/billing/follow-ups/follow-ups.ts';
import { forgottenView, idsOf } from '#libs/billing/follow-ups/forgotten.ts';
import { readFollowUps } from '#libs/billing/follow-ups/read-follow-ups.ts';
import { appError, retryAfter } from '#libs/errors.ts';
import { allows } from '#libs/models/accounts/api-key.ts';
import { followUpsResponse } from '#libs/responses/follow-ups.ts';
import { found } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { withConcurrencyLimit } from '../limits/concurrency-limit.ts';

export const reportRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/reports/follow-ups',
    operation: 'getFollowUps',
    isLarge: true,
    scope: 'reports:read',
    docs: {
      title: 'Get what was forgotten',
      summary: 'Get what was forgotten: money that nothing asks for, and clients that wait',
      description:
        'Each kind counts what is forgotten now, and goes when it is done. A key sees a kind if it may read what the kind tells about; the others are in `left_out`.',
      response: followUpsResponse,
    },
    handler: getFollowUps,
  }),
];

async function getFollowUps({ caller: { accountId, scopes } }: Context) {
  const missing = FOLLOW_UP_KINDS.map((kind) => ({
    kind,
    missing_scopes: followUp(kind).scopes.filter((scope) => !allows(scopes, scope)),
  }));
  const [readable, left_out] = partition(missing, ({ missing_scopes }) => missing_scopes.length === 0);
  const kinds = readable.map(({ kind }) => kind);
  // One at a time for each account: it reads from a dozen collections.
  const read = () => readFollowUps(accountId, { at: new Date(), kinds });
  const late = () => appError('too_many_lists', undefined, { headers: retryAfter(1) });
  const { today, found: kindsFound } = await withConcurrencyLimit(`follow-ups ${accountId}`, read, { late });
  const follow_ups = kindsFound.map(([kind, forgotten]) => {
    const { resource, operations } = followUp(kind);
    return { kind, ...forgottenView(forgotten), resource, ids: idsOf(forgotten), operations };
  });
  return found({ as_of: today, follow_ups, left_out });
}
