// The catalogue of items over HTTP: what lines of documents are copied from.

import { Item, type ItemRecord, itemSearch, itemView } from '#libs/models/billing/item.ts';
import { changeOwn, findOwn, insertOwn, isUnchanged, removeOwn } from '#libs/models/records.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { itemResponse } from '#libs/responses/item.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { type ItemChanges, itemChanges, itemList, type NewItem, newItem } from './input.ts';

const path = '/api/v1/items';
const missing = 'Item not found or access denied';

export const itemRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createItem',
    isPrinted: true,
    scope: 'items:write',
    query: dryRun,
    body: newItem,
    docs: {
      title: 'Create an item',
      summary: 'Create an item of the catalogue',
      description:
        'A line of a quote or an invoice that names it by `item_id` gets its fields, unless the line has its own. They are copied: a later change of the item changes no document.',
      response: itemResponse,
    },
    handler: createItem,
  }),
  route({
    method: 'get',
    path,
    operation: 'listItems',
    scope: 'items:read',
    query: itemList.query,
    docs: { title: 'List items', summary: 'List the items of the catalogue, newest first', response: itemResponse },
    handler: listItems,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getItem',
    scope: 'items:read',
    missing: 'Item not found',
    docs: { summary: 'Get an item', response: itemResponse },
    read: readItem,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateItem',
    isPrinted: true,
    scope: 'items:write',
    body: itemChanges,
    missing,
    docs: {
      title: 'Update an item',
      summary: 'Update an item; lines that were copied from it stay as they are',
      response: itemResponse,
    },
    handler: updateItem,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteItem',
    scope: 'items:write',
    missing,
    docs: {
      title: 'Delete an item',
      summary: 'Delete an item; lines that were copied from it stay as they are',
      message: 'Item deleted',
    },
    handler: deleteItem,
  }),
];

async function createItem({ body, commit }: Context<NewItem, DryRun>) {
  return commit(async ({ session, accountId, announce }) => {
    const fields = {
      name: body.name,
      description: body.description || null,
      unit: body.unit || null,
      rate: body.rate,
      tax_rate: body.tax_rate ?? null,
    };
    const item: ItemRecord = { ...newRecord(accountId), ...fields, search: itemSearch(fields) };
    await insertOwn(Item, item, session);
    const view = itemView(item);
    await announce('item.created', view);
    return created(view);
  });
}

async function listItems({ caller, query }: Context<unknown, ListQuery>) {
  return itemList.respond({ caller, query }, (records) => records.map(itemView));
}

async function readItem({ caller, id, session }: Reading) {
  const item = await findOwn(Item, caller.accountId, id, session);
  return item && itemView(item);
}

async function updateItem({ body, commit, requireRecord }: Context<ItemChanges>) {
  return commit(async ({ session, announce }) => {
    const item = await requireRecord(Item, session);
    const { description, unit, ...rest } = body;
    const changes: Partial<ItemRecord> = {
      ...rest,
      ...(description === undefined ? {} : { description: description || null }),
      ...(unit === undefined ? {} : { unit: unit || null }),
    };
    if (isUnchanged(item, changes)) return updated(itemView(item));
    const search = itemSearch({ ...item, ...changes });
    const view = itemView(await changeOwn(Item, item, { ...changes, search }, session));
    await announce('item.updated', view);
    return updated(view);
  });
}

async function deleteItem({ commit, requireRecord }: Context) {
  return commit(async ({ session, announce }) => {
    const item = await requireRecord(Item, session);
    const view = itemView(item);
    await removeOwn(Item, item, session);
    await announce('item.deleted', view);
    return deleted('Item deleted');
  });
}
