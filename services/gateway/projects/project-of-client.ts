// The project that an invoice or a quote names: one of the account's, and of the same client.
import { notFound } from '#libs/errors.ts';
import { Project, type ProjectRecord } from '#libs/models/project.ts';
import { holdOwn } from '#libs/models/records.ts';
import type { Id, StoredId } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo.ts';
import { fieldProblem } from '../http/read-input.ts';

interface Named {
  accountId: Id;
  projectId: Id | StoredId | null | undefined;
  clientId: StoredId;
  session: Session;
  /** The form in which the operation answers problems. */
  details?: 'list' | 'by-field';
}

/**
 * The project is locked for the transaction: one that moves it to another client at the same time conflicts with this one.
 * @returns undefined when none is named. @throws AppError 404 when it is not the account's, 400 when it is another client's.
 */
export async function projectOfClient(named: Named): Promise<ProjectRecord | undefined> {
  const { accountId, projectId, clientId, session, details } = named;
  if (!projectId) return undefined;
  const project = await holdOwn(Project, accountId, projectId, session);
  if (!project) throw notFound('Project', 'or access denied');
  if (!project.client_id.equals(clientId)) {
    throw fieldProblem('project_id', 'project_id must be a project of the same client', details);
  }
  return project;
}
