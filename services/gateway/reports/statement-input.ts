// Input of the statement of account.
import Joi from 'joi';
import type { DocumentLooks } from '#libs/documents/looks.ts';
import { currency, uuid } from '#libs/input/kinds.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { looks } from '../fields/looks-input.ts';
import { periodFields } from '../fields/period-input.ts';

export interface StatementQuery {
  client_id: Id;
  from: string;
  to: string;
  currency?: string;
}

const fields = {
  client_id: uuid().required().description('The client whose account it is').example(exampleId.clients),
  ...periodFields,
  currency: currency().description('This currency alone; every currency of the client unless given'),
};

export const statementQuery = Joi.object<StatementQuery, true>(fields);
export const printedStatementQuery = Joi.object<StatementQuery & DocumentLooks, true>({ ...fields, ...looks });
