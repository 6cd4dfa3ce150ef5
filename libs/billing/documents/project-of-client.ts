// The projects that documents refer to. They must be the account's, and of the same client.
import { appError, type DetailsForm, fieldProblem } from '../../errors.ts';
import { lockOwn } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { Project, type ProjectRecord } from '../../models/time/project.ts';
import type { Session } from '../../mongo/connection.ts';
import { namedClient } from './named-client.ts';

interface References {
  client_id: StoredId;
  project_id: StoredId | null;
}

interface Named {
  accountId: Id;
  projectId: Id | StoredId | null | undefined;
  clientId: StoredId;
  session: Session;
  /** The form in which the operation answers problems. */
  details?: DetailsForm;
}

/**
 * Returns the project under a row lock. A transaction that moves it to another client at the same moment conflicts with
 * this one.
 * @returns undefined when none is named.
 * @throws AppError 404 when it is not the account's, 400 when it is another client's.
 */
export async function projectOfClient(named: Named): Promise<ProjectRecord | undefined> {
  const { accountId, projectId, clientId, session, details } = named;
  if (!projectId) return undefined;
  const project = await lockOwn(Project, accountId, projectId, session);
  if (!project) throw appError('project_not_found');
  if (!project.client_id.equals(clientId)) {
    throw fieldProblem('project_id', 'of_other_client', { records: 'a_project' }, details);
  }
  return project;
}

/** Returns the client and the project that a change of a document names, with their stored ids. */
export function changedReferences({ client_id, project_id }: { client_id?: Id; project_id?: Id | null }) {
  return {
    ...(client_id === undefined ? {} : { client_id: storedId(client_id) }),
    ...(project_id === undefined ? {} : { project_id: project_id === null ? null : storedId(project_id) }),
  };
}

/**
 * Checks and locks the references that a change of a document names.
 * @throws AppError 404 or 400, also when its old project is not of its new client; 409 when the client was anonymised.
 */
export async function requireReferences({
  document,
  next,
  accountId,
  session,
  details,
}: {
  document: References;
  next: Partial<References>;
  accountId: Id;
  session: Session;
  details?: DetailsForm;
}): Promise<void> {
  if (next.client_id === undefined && next.project_id === undefined) return;
  if (next.client_id && !next.client_id.equals(document.client_id)) {
    await namedClient(accountId, next.client_id, session);
  }
  const { client_id: clientId, project_id: projectId } = { ...document, ...next };
  await projectOfClient({ accountId, projectId, clientId, session, ...(details ? { details } : {}) });
}
