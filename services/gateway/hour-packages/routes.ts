// Hour packages over HTTP: what was paid in advance, and which invoices draw from it.
import { currencyFor } from '#libs/billing/documents/client-terms.ts';
import { namedClient } from '#libs/billing/documents/named-client.ts';
import { projectOfClient } from '#libs/billing/documents/project-of-client.ts';
import { clientHours } from '#libs/billing/hour-packages/client-hours.ts';
import { announceLow, hourPackageViews, PACKAGES_MAX } from '#libs/billing/hour-packages/draw-hours.ts';
import { dayIn } from '#libs/day.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord, embeddedClient } from '#libs/models/accounts/client.ts';
import { changeOwn, driverOf, findOwn, insertOwn, isUnchanged, removeOwn } from '#libs/models/records.ts';
import { type Id, newRecord, storedId } from '#libs/models/tenant.ts';
import { hourDrawdownView } from '#libs/models/time/hour-drawdown.ts';
import { HourPackage, type HourPackageRecord, isLow } from '#libs/models/time/hour-package.ts';
import { secondsOf } from '#libs/models/time/time-entry.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { clientHoursResponse, drawdownResponse, hourPackageResponse } from '#libs/responses/hour-package.ts';
import { exactMinor } from '#libs/rules/money/exact-amount.ts';
import { hoursQuantity } from '#libs/rules/time/time-rounding.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, found, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import {
  drawdownList,
  type HourPackageChanges,
  hourPackageChanges,
  hourPackageList,
  type NewHourPackage,
  newHourPackage,
} from './input.ts';

const path = '/api/v1/hour-packages';
const missing = 'Hour package not found or access denied';
const packagesMaxReached = () => appError('hour_package_limit_reached', { limit: PACKAGES_MAX });

export const hourPackageRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createHourPackage',
    scope: 'hour-packages:write',
    query: dryRun,
    body: newHourPackage,
    docs: {
      title: 'Create an hour package',
      summary: 'Create a package of prepaid hours',
      description:
        'Invoices draw the time of the client from it before they charge any: the package that ends first before the others. The day of the work decides whether it is valid.',
      response: hourPackageResponse,
      missingReference: 'Client not found or access denied',
      conflict: packagesMaxReached(),
    },
    handler: createPackage,
  }),
  route({
    method: 'get',
    path,
    operation: 'listHourPackages',
    scope: 'hour-packages:read',
    query: hourPackageList.query,
    docs: {
      title: 'List hour packages',
      summary: 'List hour packages with what is left of them, newest first',
      response: hourPackageResponse,
    },
    handler: listPackages,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getHourPackage',
    scope: 'hour-packages:read',
    missing: 'Hour package not found',
    docs: { summary: 'Get an hour package', response: hourPackageResponse },
    read: readPackage,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateHourPackage',
    scope: 'hour-packages:write',
    body: hourPackageChanges,
    missing,
    docs: {
      summary: 'Update an hour package',
      description: 'What was drawn stays drawn, whatever days it is valid on.',
      response: hourPackageResponse,
      conflict: appError('hour_package_below_drawn', { drawn: 12.25 }),
    },
    handler: updatePackage,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteHourPackage',
    scope: 'hour-packages:write',
    missing,
    docs: {
      title: 'Delete an hour package',
      summary: 'Delete an hour package that no invoice draws from',
      message: 'Hour package deleted',
      conflict: appError('hour_package_in_use'),
    },
    handler: deletePackage,
  }),
  route({
    method: 'get',
    path: `${path}/{id}/drawdowns`,
    operation: 'listDrawdowns',
    scope: 'hour-packages:read',
    query: drawdownList.query,
    missing: 'Hour package not found',
    docs: {
      title: 'List draws from an hour package',
      summary: 'List what invoices draw from an hour package, latest first',
      response: drawdownResponse,
    },
    handler: listDrawdowns,
  }),
  route({
    method: 'get',
    path: '/api/v1/clients/{id}/hours',
    operation: 'getClientHours',
    isLarge: true,
    scope: 'hour-packages:read',
    missing: 'Client not found or access denied',
    docs: {
      title: 'Get the prepaid hours left',
      summary: 'Get the prepaid hours that a client has left, in all and by project, and when they expire',
      description: `Counts the packages that are \`Active\` today, at most ${PACKAGES_MAX.toLocaleString('en')}.`,
      response: clientHoursResponse,
    },
    handler: getClientHours,
  }),
];

async function createPackage({ body, commit }: Context<NewHourPackage, DryRun>) {
  return commit(async ({ session, accountId, announce }) => {
    const client = await namedClient(accountId, body.client_id, session);
    const project = await projectOfClient({ accountId, projectId: body.project_id, clientId: client._id, session });
    const own = { account_id: storedId(accountId), client_id: client._id } as object;
    const count = await driverOf(HourPackage).countDocuments(own, { session, limit: PACKAGES_MAX });
    if (count >= PACKAGES_MAX) throw packagesMaxReached();
    const record: HourPackageRecord = {
      ...newRecord(accountId),
      client_id: client._id,
      project_id: project?._id ?? null,
      name: body.name || null,
      hours: body.hours,
      seconds: secondsOf(body.hours),
      drawn_seconds: 0,
      amount: body.amount ?? null,
      currency: body.currency ?? (await currencyOf(body.amount, client, { accountId, session })),
      valid_from: body.valid_from ?? null,
      valid_until: body.valid_until ?? null,
      rollover: body.rollover ?? false,
      low_hours: body.low_hours ?? null,
    };
    requireSound(record);
    await insertOwn(HourPackage, record, session);
    const view = await viewOf(record, accountId, session);
    await announce('hour_package.created', view);
    return created(view);
  });
}

async function listPackages({ caller, query }: Context<unknown, ListQuery>) {
  return hourPackageList.respond({ caller, query }, (records) => hourPackageViews(records, caller.accountId));
}

async function readPackage({ caller, id, session }: Reading) {
  const record = await findOwn(HourPackage, caller.accountId, id, session);
  return record && viewOf(record, caller.accountId, session);
}

async function updatePackage({ body, commit, requireRecord }: Context<HourPackageChanges>) {
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const record = await requireRecord(HourPackage, session);
    const { hours, name, rollover, ...rest } = body;
    const changes: Partial<HourPackageRecord> = {
      ...rest,
      ...(hours === undefined ? {} : { hours, seconds: secondsOf(hours) }),
      ...(name === undefined ? {} : { name: name || null }),
      ...(rollover === undefined ? {} : { rollover: rollover ?? false }),
    };
    const next = { ...record, ...changes };
    if (next.amount !== null && !next.currency) {
      const client = await findOwn(Client, accountId, record.client_id, session);
      changes.currency = next.currency = await currencyOf(next.amount, client ?? {}, { accountId, session });
    }
    requireSound(next);
    if (isUnchanged(record, changes)) return updated(await viewOf(record, accountId, session));
    if (!isLow(next)) changes.is_low = undefined;
    const changed = await changeOwn(HourPackage, record, changes, session);
    const view = await viewOf(changed, accountId, session);
    await announce('hour_package.updated', view);
    await announceLow(unit, [changed]);
    return updated(view);
  });
}

async function deletePackage({ commit, requireRecord }: Context) {
  return commit(async ({ session, accountId, announce }) => {
    const record = await requireRecord(HourPackage, session);
    const view = await viewOf(record, accountId, session);
    if (record.drawn_seconds > 0) throw appError('hour_package_in_use');
    await removeOwn(HourPackage, record, session);
    await announce('hour_package.deleted', view);
    return deleted('Hour package deleted');
  });
}

async function listDrawdowns({ caller, query, requireRecord }: Context<unknown, ListQuery>) {
  const record = await requireRecord(HourPackage);
  return drawdownList.respond({ caller, query }, (records) => records.map(hourDrawdownView), {
    package_id: record._id,
  });
}

async function getClientHours({ caller, requireRecord }: Context) {
  const client = await requireRecord(Client);
  const hours = await clientHours(caller.accountId, client._id);
  return found({ client: embeddedClient(client), as_of: dayIn(caller.account.time_zone), ...hours });
}

async function currencyOf(
  amount: number | null | undefined,
  client: Partial<Pick<ClientRecord, 'currency'>>,
  { accountId, session }: { accountId: Id; session: Session },
): Promise<string | null> {
  if (amount === null || amount === undefined) return null;
  return currencyFor(client, await readAccount(accountId, session));
}

/** @throws AppError 400 for days and amounts that make no sense, 409 for fewer hours than were drawn. */
function requireSound({ amount, currency, valid_from, valid_until, seconds, drawn_seconds }: HourPackageRecord): void {
  if (amount !== null && currency) exactMinor(amount, currency);
  if (valid_from && valid_until && valid_until < valid_from) {
    throw fieldProblem('valid_until', 'before_other', { other: 'valid_from' });
  }
  if (seconds < drawn_seconds) {
    throw appError('hour_package_below_drawn', { drawn: hoursQuantity(drawn_seconds) });
  }
}

async function viewOf(record: HourPackageRecord, accountId: Id, session?: Session) {
  const [view] = await hourPackageViews([record], accountId, session);
  if (!view) throw new Error('one package has one view');
  return view;
}
