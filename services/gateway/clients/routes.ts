// Clients over HTTP.

import { eraseAnswers } from '#libs/billing/answers/erase-answers.ts';
import { requirePrintableClient } from '#libs/billing/documents/printable-size.ts';
import { eraseMessages } from '#libs/billing/messages/erase-messages.ts';
import { readdressMessages } from '#libs/billing/messages/readdress-messages.ts';
import { applyRate } from '#libs/billing/time/settle-rate.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { appError } from '#libs/errors.ts';
import { Client, type ClientRecord, clientView, searchOf } from '#libs/models/accounts/client.ts';
import { erasedFields, eraseFromEvents } from '#libs/models/accounts/client-erasure.ts';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { RecurringInvoice } from '#libs/models/billing/recurring-invoice.ts';
import { removeMailSourcesOf } from '#libs/models/messages/mail-source.ts';
import { normalAddress } from '#libs/models/messages/message.ts';
import { removeDocumentLinks } from '#libs/models/portal/document-link.ts';
import { changeOwn, findOwn, hasOwn, insertOwn, isUnchanged, removeOwn } from '#libs/models/records.ts';
import { type Id, newRecord, wireId } from '#libs/models/tenant.ts';
import { HourPackage } from '#libs/models/time/hour-package.ts';
import { Project } from '#libs/models/time/project.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { clientResponse } from '#libs/responses/client.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import {
  type ClientChanges,
  clientChanges,
  clientList,
  type NewClient,
  newClient,
  requireEmailUnlessAllowed,
  requireNameAndEmail,
} from './input.ts';

const path = '/api/v1/clients';
const missing = 'Client not found or access denied';

export const clientRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'addClient',
    isPrinted: true,
    scope: 'clients:write',
    query: dryRun,
    body: newClient,
    precheckBody: requireNameAndEmail,
    docs: {
      summary: 'Create a client',
      response: clientResponse,
    },
    handler: createClient,
  }),
  route({
    method: 'get',
    path,
    operation: 'listClients',
    scope: 'clients:read',
    query: clientList.query,
    docs: {
      title: 'List clients',
      summary: 'List clients, newest first',
      response: clientResponse,
    },
    handler: listClients,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getClient',
    scope: 'clients:read',
    missing: 'Client not found',
    docs: {
      summary: 'Get a client',
      response: clientResponse,
    },
    read: readClient,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateClient',
    isPrinted: true,
    scope: 'clients:write',
    alsoNeeds: { 'time-entries:write': 'the rate is applied to unbilled time' },
    body: clientChanges,
    missing,
    docs: {
      summary: 'Update a client',
      response: clientResponse,
      conflict: appError('client_change_anonymised'),
    },
    handler: updateClient,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/anonymise`,
    operation: 'anonymiseClient',
    isAllowedOverQuota: true,
    scope: 'clients:write',
    missing,
    docs: {
      title: 'Anonymise a client',
      summary: 'Erase what identifies a client, for good',
      description:
        'Name, email, company, phone, addresses, references and the numbers of register and taxes leave the record, its search text and the bodies of all stored ' +
        'events. Projects, time and documents stay: drafts show the anonymised client, and documents that were issued keep ' +
        'the name and address they were issued to, because the law wants invoices kept as they were. Texts that you wrote ' +
        'yourself, such as descriptions and project names, stay too. An anonymised client cannot be changed and takes no ' +
        'new projects or documents: 409. A second call changes nothing.',
      response: clientResponse,
      status: 200,
    },
    handler: anonymiseClient,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteClient',
    scope: 'clients:write',
    missing,
    docs: {
      title: 'Delete a client',
      summary: 'Delete a client that has no projects and no documents',
      message: 'Client deleted',
      conflict: appError('client_in_use', { records: 'projects' }),
    },
    handler: deleteClient,
  }),
];

async function createClient({ body, commit }: Context<NewClient, DryRun>) {
  const email = body.email ?? '';
  requirePrintableClient({ ...body, email });
  return commit(async ({ session, accountId, announce }) => {
    const client: ClientRecord = {
      ...newRecord(accountId),
      ...emptyToNull(body),
      name: body.name,
      email,
      search: searchOf({ ...body, email }),
      status: 'invited',
    };
    await insertOwn(Client, client, session);
    const view = clientView(client);
    await announce('client.created', view);
    return created(view);
  });
}

async function listClients({ caller, query }: Context<unknown, ListQuery>) {
  return clientList.respond({ caller, query }, (records) => records.map(clientView));
}

async function readClient({ caller, id, session }: Reading) {
  const client = await findOwn(Client, caller.accountId, id, session);
  return client && clientView(client);
}

async function updateClient({ body, commit, requireRecord, requireScope }: Context<ClientChanges>) {
  const { apply_to, ...given } = body;
  if (apply_to === 'unbilled') requireScope('time-entries:write');
  return commit(async (unit) => {
    const { session, announce } = unit;
    const client = await requireRecord(Client, session);
    if (client.anonymised_at) throw appError('client_change_anonymised');
    await requireEmailUnlessAllowed(given, unit);
    const { email, ...others } = emptyToNull(given);
    const isRemoved = email !== undefined && isOtherAddress(client.email, email);
    const changes = {
      ...others,
      ...(email === undefined ? {} : { email: email ?? '' }),
      ...(isRemoved ? { email_removed_at: agreedDate() } : {}),
    };
    requirePrintableClient({ ...client, ...changes });
    const search = searchOf({ ...client, ...changes });
    const isSame = isUnchanged(client, changes);
    const changed = isSame ? client : await changeOwn(Client, client, { ...changes, search }, session);
    const view = clientView(changed);
    if (!isSame) await announce('client.updated', view);
    await readdressMessages(unit, client, { from: client.email, to: changed.email });
    if (apply_to === 'unbilled') await applyRate(unit, { from: 'client', client_id: client._id });
    return updated(view);
  });
}

/** True when the client had an address, and has not that one any more. */
function isOtherAddress(before: string, after: string | null): boolean {
  return before !== '' && normalAddress(before) !== normalAddress(after ?? '');
}

async function anonymiseClient({ caller, id, commit, requireRecord }: Context) {
  return commit(
    async (unit) => {
      const { session, accountId, announce } = unit;
      const client = await requireRecord(Client, session);
      // Drawing the sequence of this event conflicts with every transaction that announces something: none brings the old data back.
      const changed = client.anonymised_at
        ? client
        : await changeOwn(Client, client, erasedFields(agreedDate()), session);
      const view = clientView(changed);
      if (changed !== client) await announce('client.anonymised', view);
      await eraseCorrespondence(unit, client);
      await eraseFromEvents(accountId, id, session);
      return updated(view);
    },
    // Most mails and events before the transaction: thousands of them would make it too long.
    async () => {
      const client = await readAfterElection(() => findOwn(Client, caller.accountId, id));
      if (!client) return;
      await removeMailSourcesOf(caller.accountId, id);
      await eraseFromEvents(caller.accountId, id);
    },
  );
}

/** Erases what was written to the client and by it, and removes its links. */
async function eraseCorrespondence(unit: UnitOfWork, client: ClientRecord): Promise<void> {
  const { session, accountId } = unit;
  await eraseMessages(unit, client);
  // A worker that keeps a mail at this moment writes its message, too: it conflicts, or its mail is among these.
  await removeMailSourcesOf(accountId, wireId(client._id), session);
  await removeDocumentLinks(accountId, { client_id: client._id }, session);
  await eraseAnswers(unit, client);
}

async function deleteClient({ commit, requireRecord }: Context) {
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const client = await requireRecord(Client, session);
    await requireUnused(client, accountId, session);
    // A quote that is another client's now has kept its mail, its questions and its evidence.
    await eraseCorrespondence(unit, client);
    await removeOwn(Client, client, session);
    await announce('client.deleted', clientView(client));
    return deleted('Client deleted');
  });
}

/** @throws AppError 409 that names what still refers to the client. */
async function requireUnused({ _id: client_id }: ClientRecord, accountId: Id, session: Session) {
  for (const [records, name] of [
    [Invoice, 'invoices'],
    [Payment, 'payments'],
    [CreditNote, 'credit_notes'],
    [Quote, 'quotes'],
    [RecurringInvoice, 'recurring_invoices'],
    [HourPackage, 'hour_packages'],
    [Project, 'projects'],
  ] as const) {
    if (await hasOwn(records, accountId, { client_id }, session)) {
      throw appError('client_in_use', { records: name });
    }
  }
}

/** An optional field given as '' is stored as null, like one that is not given. */
function emptyToNull<Body extends object>(body: Body): Body {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, value === '' ? null : value])) as Body;
}
