// What a caller may send about projects.
import Joi from 'joi';
import { projectListing } from '#libs/models/project.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '../http/example-ids.ts';
import { type ListQuery, listQuery } from '../http/page.ts';
import { line, name, uuid } from '../http/read-input.ts';

export interface NewProject {
  name: string;
  client_id: Id;
  status?: string;
}

export type ProjectChanges = Partial<Omit<NewProject, 'status'>> & { status?: string | null };

export interface ProjectQuery extends ListQuery {
  client_id?: Id;
  status?: string;
}

// Which statuses there are is the account's own choice, see routes.ts.
export const newProject = Joi.object<NewProject, true>({
  name: name().required(),
  client_id: uuid().required(),
  status: line(),
}).example({ name: 'Difference engine', client_id: exampleId.clients });

export const projectChanges = Joi.object<ProjectChanges, true>({
  name: name(),
  client_id: uuid(),
  status: line(),
}).example({ status: 'Awaiting Approval' });

export const projectQuery = Joi.object<ProjectQuery>({
  status: line(),
  client_id: uuid(),
  ...listQuery(projectListing),
});
