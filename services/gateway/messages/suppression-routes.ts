// Suppressed addresses over HTTP.
import { normalAddress } from '#libs/models/messages/message.ts';
import { findSuppression, Suppression, suppressionView } from '#libs/models/messages/suppression.ts';
import { removeOwn } from '#libs/models/records.ts';
import { suppressionResponse } from '#libs/responses/message.ts';
import type { ListQuery } from '../http/list.ts';
import { deleted } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { suppressedAddress, suppressionList } from './input.ts';

const path = '/api/v1/suppressions';

export const suppressionRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    operation: 'listSuppressions',
    scope: 'messages:read',
    query: suppressionList.query,
    docs: {
      title: 'List suppressed addresses',
      summary: 'List the addresses that are not mailed any more, the latest first',
      response: suppressionResponse,
    },
    handler: listSuppressions,
  }),
  route({
    method: 'delete',
    path: `${path}/{address}`,
    operation: 'deleteSuppression',
    scope: 'messages:write',
    parameters: { address: suppressedAddress },
    missing: 'Suppression not found or access denied',
    docs: {
      title: 'Free an address',
      summary: 'Mail an address again that was suppressed',
      message: 'Suppression deleted',
    },
    handler: deleteSuppression,
  }),
];

async function listSuppressions({ caller, query }: Context<unknown, ListQuery>) {
  return suppressionList.respond({ caller, query }, (records) => records.map(suppressionView));
}

async function deleteSuppression({ parameters, commit, missing }: Context) {
  return commit(async ({ session, accountId }) => {
    const suppression = await findSuppression(accountId, normalAddress(parameters['address'] as string), session);
    if (!suppression) throw missing();
    await removeOwn(Suppression, suppression, session);
    return deleted('Suppression deleted');
  });
}
