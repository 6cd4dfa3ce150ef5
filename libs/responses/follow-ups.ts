// Response shapes of the follow-ups: the report, and the event of each week, which names no records.
import Joi from 'joi';
import { FOLLOW_UP_KINDS, followUp } from '../billing/follow-ups/follow-ups.ts';
import { COUNTED_MAX, IDS_MAX } from '../billing/follow-ups/forgotten.ts';
import { SCOPES } from '../models/accounts/api-key.ts';
import { exampleId } from './example-ids.ts';
import { calendarDay, currency, id, number } from './response-fields.ts';

const kind = () =>
  Joi.string()
    .valid(...FOLLOW_UP_KINDS)
    .required();

const meanings = FOLLOW_UP_KINDS.map((name) => `\`${name}\`: ${followUp(name).means}`).join('. ');
const days = FOLLOW_UP_KINDS.map((name) => `\`${name}\`: ${followUp(name).oldest}`).join('; ');

const summary = {
  kind: kind().description(meanings),
  count: number().description(`How many, at most ${COUNTED_MAX}`),
  has_more: Joi.boolean()
    .required()
    .description('There are more, or may be: `count` and `amounts` are those of the ones that were read'),
  amounts: Joi.array()
    .items(Joi.object({ currency: currency(), amount: number() }).meta({ schema: 'FollowUpAmount' }))
    .required()
    .description('Their sum in each currency; none for kinds without money'),
  oldest: calendarDay().description(`The earliest of their days. ${days}`),
};

const exampleSummary = {
  kind: 'unbilled_quotes',
  count: 1,
  has_more: false,
  amounts: [{ currency: 'EUR', amount: 2400 }],
  oldest: '2026-10-14',
};

/** The event of each week. */
export const followUpSummaryResponse = Joi.object({
  as_of: calendarDay().description('The day of the account'),
  follow_ups: Joi.array()
    .items(Joi.object(summary).meta({ schema: 'FollowUpCount' }))
    .required()
    .description('Only kinds of which there is something'),
})
  .id('FollowUpSummary')
  .example({ as_of: '2026-11-02', follow_ups: [exampleSummary] });

export const followUpsResponse = Joi.object({
  as_of: calendarDay().description('The day of the account'),
  follow_ups: Joi.array()
    .items(
      Joi.object({
        ...summary,
        resource: Joi.string().required().description('What the ids are of: `/api/v1/<resource>/{id}`'),
        ids: Joi.array().items(id()).required().description(`The ones that wait the longest, at most ${IDS_MAX}`),
        operations: Joi.array()
          .items(Joi.string().required())
          .required()
          .description('What ends it: operations of this document, the usual one first'),
      }).meta({ schema: 'FollowUp' }),
    )
    .required()
    .description('Only kinds of which there is something'),
  left_out: Joi.array()
    .items(
      Joi.object({
        kind: kind().description('One of the kinds of `follow_ups`'),
        missing_scopes: Joi.array()
          .items(
            Joi.string()
              .valid(...SCOPES)
              .required(),
          )
          .required()
          .description('The scopes that the key lacks'),
      }).meta({ schema: 'LeftOutFollowUp' }),
    )
    .required()
    .description('Kinds that this key may not read'),
})
  .id('FollowUps')
  .example({
    as_of: '2026-11-02',
    follow_ups: [
      { ...exampleSummary, resource: 'quotes', ids: [exampleId.quotes], operations: ['convertQuote', 'updateQuote'] },
    ],
    left_out: [{ kind: 'unallocated_payments', missing_scopes: ['payments:read'] }],
  });
