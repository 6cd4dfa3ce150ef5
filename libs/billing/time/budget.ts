// Announces the use of a budget at 80 and at 100 %, once for each limit.
import { clientsOf } from '../../models/accounts/client.ts';
import { changeOwn } from '../../models/records.ts';
import {
  BUDGET_KINDS,
  BUDGET_THRESHOLDS,
  type BudgetFields,
  type BudgetKind,
  type BudgetThreshold,
  hasBudget,
  thresholdReached,
} from '../../models/time/budget.ts';
import { Project, type ProjectRecord, projectsOf, projectView } from '../../models/time/project.ts';
import { Task, type TaskRecord, taskView } from '../../models/time/task.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** A threshold that a budget reaches, in the form of its event. */
export interface ReachedBudget {
  budget: BudgetKind;
  threshold: BudgetThreshold;
}

/**
 * Compares the use with the thresholds.
 * - A new limit begins anew: a threshold that it does not reach any more is announced when it is reached again.
 * - Time that is deleted and logged again announces nothing twice.
 * @param before the record before its limits were changed.
 * @returns the thresholds that are reached for the first time, and the fields that remember them.
 */
export function budgetProgress(record: BudgetFields, before: BudgetFields = record) {
  const fields: Pick<BudgetFields, 'hours_reached' | 'amount_reached'> = {};
  const reached: ReachedBudget[] = [];
  for (const budget of BUDGET_KINDS) {
    const [limit, mark] = [`budget_${budget}`, `${budget}_reached`] as const;
    const now = thresholdReached(record, budget);
    const known = before[mark] ?? 0;
    const isOther = (record[limit] ?? null) !== (before[limit] ?? null);
    const next = isOther ? now : Math.max(now, known);
    if (next !== known) fields[mark] = next;
    for (const threshold of BUDGET_THRESHOLDS) {
      if (threshold > known && threshold <= now) reached.push({ budget, threshold });
    }
  }
  return { fields, reached };
}

/**
 * Announces a project whose totals changed in this unit of work. A project without a budget shows none, so nothing is
 * announced.
 */
export async function announceProjectTotals(unit: UnitOfWork, project: ProjectRecord): Promise<void> {
  if (!hasBudget(project)) return;
  const { session, accountId, announce } = unit;
  const { fields, reached } = budgetProgress(project);
  const changed = await changeOwn(Project, project, fields, session);
  const clients = await clientsOf(accountId, [changed.client_id], session);
  const view = projectView(changed, clients.get(String(changed.client_id)));
  await announce('project.updated', view);
  await announceReached(unit, 'project.budget_reached', view, reached);
}

/** Announces a task whose total changed. A task always shows its total. */
export async function announceTaskTotal(unit: UnitOfWork, task: TaskRecord): Promise<void> {
  const { session, accountId, announce } = unit;
  const { fields, reached } = budgetProgress(task);
  const changed = Object.keys(fields).length > 0 ? await changeOwn(Task, task, fields, session) : task;
  const projects = await projectsOf(accountId, [task.project_id], session);
  const view = taskView(changed, projects.get(String(task.project_id)));
  await announce('task.updated', view);
  await announceReached(unit, 'task.budget_reached', view, reached);
}

/** Announces thresholds. @param view the record in its announced form. */
export async function announceReached(
  { announce }: Pick<UnitOfWork, 'announce'>,
  type: 'project.budget_reached' | 'task.budget_reached',
  view: object | undefined,
  reached: readonly ReachedBudget[],
): Promise<void> {
  for (const one of reached) await announce(type, { ...view, reached: one });
}
