// Projects over HTTP.

import { namedClient } from '#libs/billing/documents/named-client.ts';
import { announceReached, budgetProgress } from '#libs/billing/time/budget.ts';
import { applyRate } from '#libs/billing/time/settle-rate.ts';
import { requireNoTimer } from '#libs/billing/time/time-guard.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { isProjectOfRecurring } from '#libs/billing/work/check-selection.ts';
import { appError } from '#libs/errors.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { clientsOf } from '#libs/models/accounts/client.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { changeOwn, findOwn, hasOwn, insertOwn, isUnchanged, removeOwn } from '#libs/models/records.ts';
import { isTooMuchToRemove, REMOVED_MAX, REMOVED_MAX_MIB, removeAllWith } from '#libs/models/remove-records.ts';
import { type Id, newRecord, storedId } from '#libs/models/tenant.ts';
import { Expense } from '#libs/models/time/expense.ts';
import { HourPackage } from '#libs/models/time/hour-package.ts';
import { NO_WORTH, Project, type ProjectRecord, projectView } from '#libs/models/time/project.ts';
import { Task, taskView } from '#libs/models/time/task.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { projectResponse } from '#libs/responses/project.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { budgetCurrencyOf, changedBudgetCurrency } from './budget-currency.ts';
import { changedFixedAmount, fixedAmountOf } from './fixed-amount.ts';
import { type NewProject, newProject, type ProjectChanges, projectChanges, projectList } from './input.ts';
import { firstStatus, requireStatus } from './statuses.ts';

const path = '/api/v1/projects';
const missing = 'Project not found or access denied';

export const projectRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createProject',
    scope: 'projects:write',
    query: dryRun,
    body: newProject,
    docs: {
      summary: 'Create a project',
      response: projectResponse,
      missingReference: 'Client not found or access denied',
    },
    handler: createProject,
  }),
  route({
    method: 'get',
    path,
    operation: 'listProjects',
    scope: 'projects:read',
    query: projectList.query,
    docs: {
      title: 'List projects',
      summary: 'List projects, newest first',
      response: projectResponse,
    },
    handler: listProjects,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getProject',
    scope: 'projects:read',
    missing: 'Project not found',
    docs: {
      summary: 'Get a project',
      response: projectResponse,
    },
    read: readProject,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateProject',
    scope: 'projects:write',
    alsoNeeds: { 'time-entries:write': 'the rate is applied to unbilled time' },
    body: projectChanges,
    missing,
    docs: {
      summary: 'Update a project',
      response: projectResponse,
      conflict: appError('project_of_documents', { records: 'invoices' }),
    },
    handler: updateProject,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteProject',
    scope: 'projects:write',
    alsoNeeds: { 'tasks:write': 'the project has tasks' },
    missing,
    docs: {
      title: 'Delete a project',
      summary: 'Delete a project that has no time and no documents, with its tasks',
      description: `Each task is announced as deleted. More than ${REMOVED_MAX} of them, or ${REMOVED_MAX_MIB} MiB, are 409: delete tasks first.`,
      message: 'Project deleted',
      conflict: appError('project_in_use', { records: 'invoices' }),
    },
    handler: deleteProject,
  }),
];

async function createProject({ body, commit }: Context<NewProject, DryRun>) {
  return commit(async ({ session, accountId, announce }) => {
    const account = await readAccount(accountId, session);
    const status = body.status === undefined ? firstStatus(account) : requireStatus(body.status, account);
    const client = await namedClient(accountId, body.client_id, session);
    const project: ProjectRecord = {
      ...newRecord(accountId),
      name: body.name,
      client_id: client._id,
      status,
      hourly_rate: body.hourly_rate ?? null,
      member_rates: body.member_rates ?? null,
      rounding: body.rounding ?? null,
      ...fixedAmountOf(body, { client, account }),
      budget_hours: body.budget_hours ?? null,
      budget_amount: body.budget_amount ?? null,
      ...budgetCurrencyOf(body, { client, account }),
      total_seconds: 0,
      total_worth: NO_WORTH,
    };
    await insertOwn(Project, project, session);
    const view = projectView(project, client);
    await announce('project.created', view);
    return created(view);
  });
}

async function listProjects({ caller, query }: Context<unknown, ListQuery>) {
  return projectList.respond({ caller, query }, (records) => viewsOf(records, caller.accountId));
}

async function readProject({ caller, id, session }: Reading) {
  const project = await findOwn(Project, caller.accountId, id, session);
  return project && viewOf(project, caller.accountId, session);
}

async function updateProject({ body, commit, requireRecord, requireScope }: Context<ProjectChanges>) {
  const { client_id, status, billing, fixed_amount, currency, apply_to, ...rest } = body;
  if (apply_to === 'unbilled') requireScope('time-entries:write');
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const project = await requireRecord(Project, session);
    const clientId = client_id ?? project.client_id;
    const fields: Partial<ProjectRecord> = {
      ...rest,
      ...(await changedFixedAmount(project, { billing, fixed_amount, currency }, { accountId, clientId, session })),
    };
    Object.assign(fields, await changedBudgetCurrency(project, { ...fields, client_id }, { accountId, session }));
    // It may keep a status that the account has given up.
    if (status !== undefined && status !== project.status) {
      const account = await readAccount(accountId, session);
      fields.status = status === null ? firstStatus(account) : requireStatus(status, account);
    }
    const wanted = { ...fields, ...(client_id ? { client_id: storedId(client_id) } : {}) };
    if (wanted.billing === 'none' && project.billing !== 'none') await requireNoRecurring(project, accountId, session);
    /** Another rate of its time changes what is used of its budget. */
    const applied = async () => {
      await applyRate(unit, { from: 'project', project_id: project._id });
      return viewOf((await findOwn(Project, accountId, project._id, session)) ?? project, accountId, session);
    };
    if (isUnchanged(project, wanted)) {
      return updated(apply_to === 'unbilled' ? await applied() : await viewOf(project, accountId, session));
    }
    const client = client_id ? await namedClient(accountId, client_id, session) : undefined;
    if (client && !client._id.equals(project.client_id)) await requireMovable(project, accountId, session);
    const { fields: marks, reached } = budgetProgress({ ...project, ...fields }, project);
    const changes = { ...fields, ...marks, ...(client ? { client_id: client._id } : {}) };
    const view = await viewOf(await changeOwn(Project, project, changes, session), accountId, session);
    await announce('project.updated', view);
    await announceReached(unit, 'project.budget_reached', view, reached);
    return updated(apply_to === 'unbilled' ? await applied() : view);
  });
}

async function deleteProject({ commit, requireRecord, requireScope }: Context) {
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const project = await requireRecord(Project, session);
    const view = await viewOf(project, accountId, session);
    await requireUnused(project, accountId, session);
    // A key deletes along with a project only what it may delete by itself.
    if (await hasOwn(Task, accountId, { project_id: project._id }, session)) requireScope('tasks:write');
    await removeTasks(project, unit);
    await removeOwn(Project, project, session);
    await announce('project.deleted', view);
    return deleted('Project deleted');
  });
}

/** @throws AppError 409 that names what still refers to the project. */
async function requireUnused({ _id: project_id, fixed_billed }: ProjectRecord, accountId: Id, session: Session) {
  if (fixed_billed) throw appError('project_fixed_amount_billed');
  for (const [records, name] of [
    [TimeEntry, 'time_entries'],
    [Invoice, 'invoices'],
    [Quote, 'quotes'],
    [HourPackage, 'hour_packages'],
    [Expense, 'expenses'],
  ] as const) {
    if (await hasOwn(records, accountId, { project_id }, session)) {
      throw appError('project_in_use', { records: name });
    }
  }
  if (await isProjectOfRecurring(accountId, project_id, session)) {
    throw appError('project_in_use', { records: 'recurring_invoices' });
  }
  await requireNoTimer(accountId, { project_id }, { action: 'delete_a_project', session });
  if (await isTooMuchToRemove(Task, accountId, { project_id }, session))
    throw appError('project_too_large', { limit: REMOVED_MAX, limit_mib: REMOVED_MAX_MIB });
}

/**
 * Its documents would be those of another client. A request that adds a document locks the project, so that one of the two transactions
 * sees the other. @throws AppError 409 that names what keeps it from moving.
 */
async function requireMovable({ _id: project_id, fixed_billed }: ProjectRecord, accountId: Id, session: Session) {
  if (fixed_billed) throw appError('project_fixed_amount_moved');
  for (const [records, filter, name] of [
    [Invoice, { project_id }, 'invoices'],
    [Quote, { project_id }, 'quotes'],
    [HourPackage, { project_id }, 'hour_packages'],
    [Expense, { project_id, invoice_id: { $ne: null } }, 'billed_expenses'],
    [TimeEntry, { project_id, invoice_id: { $ne: null } }, 'billed_time'],
  ] as const) {
    if (await hasOwn(records, accountId, filter, session)) {
      throw appError('project_of_documents', { records: name });
    }
  }
  if (await isProjectOfRecurring(accountId, project_id, session)) {
    throw appError('project_of_documents', { records: 'recurring_invoices' });
  }
}

/** Its time would no longer be billed, in silence. @throws AppError 409. */
async function requireNoRecurring({ _id }: ProjectRecord, accountId: Id, session: Session) {
  if (await isProjectOfRecurring(accountId, _id, session)) {
    throw appError('project_of_recurring');
  }
}

/** Tasks without time are plans: they go with the project. */
async function removeTasks(project: ProjectRecord, { session, accountId, announceAll }: UnitOfWork) {
  await removeAllWith(Task, accountId, { project_id: project._id }, session, (tasks) =>
    announceAll(
      'task.deleted',
      tasks.map((task) => taskView(task, project)),
    ),
  );
}

async function viewOf(project: ProjectRecord, accountId: Id, session?: Session) {
  const [view] = await viewsOf([project], accountId, session);
  return view;
}

async function viewsOf(projects: ProjectRecord[], accountId: Id, session?: Session) {
  const clients = await clientsOf(
    accountId,
    projects.map(({ client_id }) => client_id),
    session,
  );
  return projects.map((project) => projectView(project, clients.get(String(project.client_id))));
}
