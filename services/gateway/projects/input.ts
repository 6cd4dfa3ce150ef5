// What a caller may send about projects.
import Joi from 'joi';
import type { Id } from '#libs/models/tenant.ts';
import { projectListing } from '#libs/models/time/project.ts';
import { exampleId } from '../fields/example-ids.ts';
import { line, name, uuid } from '../fields/input-fields.ts';
import { type ListQuery, listQuery } from '../http/page.ts';

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
