// Proof that the numbers of invoices, quotes, credit notes and payments have neither gaps nor duplicates.
import Joi from 'joi';
import { auditNumbers, type NumberAudit, numberPage } from '#libs/models/billing/number-audit.ts';
import { NUMBER_KINDS, type NumberKind } from '#libs/rules/documents/number-kinds.ts';
import { type PageQuery, pageQuery } from '../http/page.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { numberingResponse } from './response.ts';

interface AuditQuery extends PageQuery {
  kind?: NumberKind;
}

export const numberingRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/numbering/audit',
    operation: 'auditNumbering',
    scope: 'account:read',
    query: Joi.object<AuditQuery>({
      kind: Joi.string()
        .valid(...NUMBER_KINDS)
        .description('Only numbers of this kind of document'),
      ...pageQuery,
    }),
    docs: {
      title: 'Audit the numbers',
      summary: 'Every number ever drawn, with its document or its tombstone, and whether one is missing',
      response: numberingResponse,
      isPageOfOne: true,
    },
    handler: auditNumbering,
  }),
];

async function auditNumbering({ caller, query }: Context<unknown, AuditQuery>) {
  const { kind, limit, offset, after } = query;
  const kinds = kind ? [kind] : NUMBER_KINDS;
  const audits: Partial<Record<NumberKind, NumberAudit>> = {};
  for (const one of kinds) audits[one] = await auditNumbers(caller.accountId, one);
  const { numbers, total, next } = await numberPage(caller.accountId, kinds, { limit, offset, after });
  const gapless = Object.values(audits).every((audit) => audit.gapless);
  return {
    status: 200,
    body: { data: { gapless, kinds: audits, numbers }, pagination: { total, limit, offset } },
    next,
  };
}
