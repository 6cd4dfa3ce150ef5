// Clients over HTTP.
import Joi from 'joi';
import { Client, type ClientRecord, clientView } from '#libs/models/client.ts';
import { created, deleted, found, listed, updated } from '../http/answer.ts';
import { type PageQuery, pageQuery } from '../http/page.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { clientAnswer } from './answer.ts';
import { type ClientChanges, clientChanges, type NewClient, newClient, requireNameAndEmail } from './input.ts';

const path = '/api/v1/clients';
const missing = 'Client not found or access denied';

export const clientRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createClient',
    summary: 'Create a client',
    scope: 'clients:write',
    body: newClient,
    before: requireNameAndEmail,
    answers: clientAnswer,
    handler: createClient,
  }),
  route({
    method: 'get',
    path,
    operation: 'listClients',
    summary: 'List clients, newest first',
    scope: 'clients:read',
    query: Joi.object<PageQuery>(pageQuery),
    answers: clientAnswer,
    handler: listClients,
  }),
  route({
    method: 'get',
    path: `${path}/{id}`,
    operation: 'getClient',
    summary: 'Get a client',
    scope: 'clients:read',
    missing: 'Client not found',
    answers: clientAnswer,
    handler: getClient,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateClient',
    summary: 'Update a client',
    scope: 'clients:write',
    body: clientChanges,
    missing,
    answers: clientAnswer,
    handler: updateClient,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteClient',
    summary: 'Delete a client that has no projects and no documents',
    scope: 'clients:write',
    missing,
    message: 'Client deleted',
    handler: deleteClient,
  }),
];

async function createClient({ body, commit }: Context<NewClient>) {
  return commit(async ({ session, accountId, announce }) => {
    const [client] = await Client.create([{ ...withoutEmpty(body), account_id: accountId }], { session });
    const view = clientView((client as NonNullable<typeof client>).toObject());
    await announce('client.created', view);
    return created(view);
  });
}

async function listClients({ caller, query }: Context<unknown, PageQuery>) {
  const filter = { account_id: caller.accountId };
  const [clients, total] = await Promise.all([
    Client.find(filter).sort({ created_at: -1, _id: -1 }).skip(query.offset).limit(query.limit).lean<ClientRecord[]>(),
    Client.countDocuments(filter),
  ]);
  return listed(clients.map(clientView), total, query);
}

async function getClient({ caller, id, missing }: Context) {
  const client = await Client.findOne({ _id: id, account_id: caller.accountId }).lean<ClientRecord>();
  if (!client) throw missing();
  return found(clientView(client));
}

async function updateClient({ body, id, commit, missing }: Context<ClientChanges>) {
  return commit(async ({ session, accountId, announce }) => {
    const client = await Client.findOneAndUpdate({ _id: id, account_id: accountId }, changesOf(body), {
      session,
      returnDocument: 'after',
    }).lean<ClientRecord>();
    if (!client) throw missing();
    const view = clientView(client);
    await announce('client.updated', view);
    return updated(view);
  });
}

async function deleteClient({ id, commit, missing }: Context) {
  return commit(async ({ session, accountId, announce }) => {
    const client = await Client.findOneAndDelete({ _id: id, account_id: accountId }, { session }).lean<ClientRecord>();
    if (!client) throw missing();
    await announce('client.deleted', clientView(client));
    return deleted('Client deleted');
  });
}

/** An optional field given as null or '' is a field not given. */
function withoutEmpty(body: object) {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''));
}

function changesOf(body: object) {
  const cleared = Object.entries(body).filter(([, value]) => value === null || value === '');
  return {
    $set: { ...withoutEmpty(body), updated_at: new Date() },
    ...(cleared.length > 0 ? { $unset: Object.fromEntries(cleared.map(([name]) => [name, 1])) } : {}),
  };
}
