// Routes of unbilled work: one row for each client and project with all that could be put on an invoice.
import Joi from 'joi';
import { uuid } from '#libs/input/kinds.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { allows } from '#libs/models/accounts/api-key.ts';
import { embeddedClient } from '#libs/models/accounts/client.ts';
import type { Id } from '#libs/models/tenant.ts';
import { embeddedProject } from '#libs/models/time/project.ts';
import {
  calendarDay,
  embeddedClient as clientResponse,
  currency,
  exampleClient,
  exampleProject,
  number,
  orNull,
  embeddedProject as projectResponse,
} from '#libs/responses/response-fields.ts';
import { fromMinor } from '#libs/rules/money/money.ts';
import { hoursQuantity } from '#libs/rules/time/time-rounding.ts';
import { memberInput } from '../fields/billing-input.ts';
import { type PageQuery, pageQuery } from '../http/page.ts';
import { listed } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { type UnbilledProject, unbilledTime } from './unbilled-time.ts';

interface UnbilledQuery extends PageQuery {
  client_id?: Id;
  member?: string;
}

const { limit, offset } = pageQuery;

const unbilledResponse = Joi.object({
  client: clientResponse(),
  project: projectResponse(),
  billing: Joi.string().valid('hourly', 'fixed').required(),
  currency: currency(),
  entries: number().description('How many time entries'),
  hours: number().description('As they were tracked'),
  billed_hours: number().description('After rounding'),
  amount: number().description(
    'Before tax: what is left of the fixed amount, or an invoice of the time grouped by task, without the time that has no rate',
  ),
  oldest_date: orNull(calendarDay()),
  without_rate: number().description('Time entries for which no rate is set'),
  expenses: number().description('How many expenses'),
  expense_amount: number().description('Of them, with markup, before tax'),
})
  .id('UnbilledTime')
  .example({
    client: exampleClient,
    project: exampleProject,
    billing: 'hourly',
    currency: 'EUR',
    entries: 14,
    hours: 31.4167,
    billed_hours: 32.25,
    amount: 3063.75,
    oldest_date: '2026-11-02',
    without_rate: 0,
    expenses: 2,
    expense_amount: 181.5,
  });

export const unbilledRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/unbilled',
    operation: 'listUnbilledTime',
    scope: 'time-entries:read',
    query: Joi.object<UnbilledQuery>({
      client_id: uuid().description('Only what can be billed to this client'),
      limit,
      offset,
      member: memberInput().description(
        'The time of one person, exactly as it was given. Expenses and fixed amounts have no member: they are left out',
      ),
    }),
    docs: {
      title: 'List what could be billed',
      summary: 'List what could be billed, by client, project and currency',
      description:
        "Time is in the client's currency, with the rates and rounding that an invoice would use now. Of a project with a fixed amount it is what is left of it: `POST /projects/{id}/bill`. Prepaid hours are not taken off. Expenses in another currency have a row of their own; they are left out for a key without `expenses:read`. In the order of names; the rows are sums, so pages go by `offset`.",
      response: unbilledResponse,
    },
    handler: listUnbilled,
  }),
];

async function listUnbilled({ caller, query }: Context<unknown, UnbilledQuery>) {
  const { client_id: clientId, member, limit, offset } = query;
  const hasExpenses = allows(caller.scopes, 'expenses:read');
  const wanted = { clientId, member, hasExpenses, limit, offset };
  const { rows, total } = await unbilledTime(await readAccount(caller.accountId), wanted);
  return listed(rows.map(viewOf), { total }, query);
}

function viewOf(row: UnbilledProject) {
  return {
    client: embeddedClient(row.client),
    project: embeddedProject(row.project),
    billing: row.project.billing === 'fixed' ? 'fixed' : 'hourly',
    currency: row.currency,
    entries: row.entries,
    hours: Number(hoursQuantity(row.seconds)),
    billed_hours: Number(hoursQuantity(row.billedSeconds)),
    amount: fromMinor(row.amount, row.currency),
    oldest_date: row.oldestDate,
    without_rate: row.withoutRate,
    expenses: row.expenses,
    expense_amount: fromMinor(row.expenseAmount, row.currency),
  };
}
