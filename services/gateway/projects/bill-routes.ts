// The fixed amount of a project over HTTP: it is billed whole, or in parts that never add up to more.
import { billFixedAmount } from '#libs/billing/quotes/bill-fixed-amount.ts';
import { appError } from '#libs/errors.ts';
import { invoiceResponse } from '#libs/responses/invoice.ts';
import { changedDates } from '../fields/dates-input.ts';
import { storedLines } from '../fields/money-input.ts';
import { givenTexts } from '../fields/texts-input.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import { created } from '../http/response.ts';
import { ALWAYS, type Context, type Route, route } from '../http/route.ts';
import { type FixedPartInput, fixedPart } from './input.ts';

export const projectBillRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/projects/{id}/bill',
    operation: 'billProject',
    isPrinted: true,
    scope: 'projects:write',
    alsoNeeds: { 'invoices:write': ALWAYS },
    query: dryRun,
    body: fixedPart,
    missing: 'Project not found or access denied',
    docs: {
      title: 'Bill a fixed amount',
      summary: 'Create an invoice of the fixed amount of a project, or of a part of it',
      description:
        'The parts never add up to more than the fixed amount, also when two are billed at once. A discount or shipping changes what the invoice asks for, not what it bills of the fixed amount. A deleted draft or a cancelled invoice gives its part back.',
      response: invoiceResponse,
      warns: true,
      conflict: appError('fixed_amount_exceeded', { left: '700.00' }),
    },
    handler: postPart,
  }),
];

async function postPart({ body, id, commit, missing }: Context<FixedPartInput, DryRun>) {
  return commit(async (unit) => {
    const wanted = {
      ...body,
      extra_lines: storedLines(body.extra_lines),
      dates: changedDates(body),
      charges: body,
      texts: givenTexts(body),
    };
    return created((await billFixedAmount(unit, { id, wanted, missing })).view);
  });
}
