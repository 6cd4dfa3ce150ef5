// What a caller may send about projects.
import Joi from 'joi';
import type { TimeRounding } from '#libs/billing/time-rounding.ts';
import type { Id } from '#libs/models/tenant.ts';
import { projectListing } from '#libs/models/time/project.ts';
import { hourlyRateInput, roundingInput } from '../fields/billing-input.ts';
import { exampleId } from '../fields/example-ids.ts';
import { line, name, uuid } from '../fields/input-fields.ts';
import { type ListQuery, listQuery } from '../http/page.ts';

export interface NewProject {
  name: string;
  client_id: Id;
  status?: string;
  hourly_rate?: number | null;
  rounding?: TimeRounding | null;
}

export type ProjectChanges = Partial<Omit<NewProject, 'status'>> & { status?: string | null };

export interface ProjectQuery extends ListQuery {
  client_id?: Id;
  status?: string;
}

const billing = {
  hourly_rate: hourlyRateInput().description('Of time for which neither entry nor task has one'),
  rounding: roundingInput().description("Of its time; the client's unless given, else the account's"),
};

// Which statuses there are is the account's own choice, see routes.ts.
export const newProject = Joi.object<NewProject, true>({
  name: name().required(),
  client_id: uuid().required(),
  status: line(),
  ...billing,
}).example({ name: 'Difference engine', client_id: exampleId.clients });

export const projectChanges = Joi.object<ProjectChanges, true>({
  name: name(),
  client_id: uuid(),
  status: line(),
  ...billing,
}).example({ status: 'Awaiting Approval' });

export const projectQuery = Joi.object<ProjectQuery>({
  status: line(),
  client_id: uuid(),
  ...listQuery(projectListing),
});
