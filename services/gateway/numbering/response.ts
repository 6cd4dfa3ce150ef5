// Response shapes of the audit of numbers.
import Joi from 'joi';
import { exampleId } from '#libs/responses/example-ids.ts';
import { exampleTime, id, number, orNull, timestamp, words } from '#libs/responses/response-fields.ts';
import { NUMBER_KINDS } from '#libs/rules/documents/number-kinds.ts';

const audit = Joi.object({
  gapless: Joi.boolean().required(),
  drawn: number().description('How many numbers were drawn'),
  live: number().description('Numbers with a document'),
  deleted: number().description('Numbers of deleted drafts, and numbers skipped after a restore'),
  holes: Joi.array().items(Joi.string()).required().description('Numbers that were drawn and are nowhere'),
  sequences: Joi.array()
    .items(
      Joi.object({ period: orNull(Joi.string()), first: number(), last: number() }).meta({ schema: 'NumberSequence' }),
    )
    .required()
    .description('One for all years (`period` null), or one for each year'),
  lost: Joi.array().items(Joi.string()).required().description('Numbers whose document is missing without a tombstone'),
}).meta({ schema: 'SequenceAudit' });

export const numberingResponse = Joi.object({
  gapless: Joi.boolean().required(),
  kinds: Joi.object(Object.fromEntries(NUMBER_KINDS.map((kind) => [kind, audit]))).required(),
  numbers: Joi.array()
    .items(
      Joi.object({
        number: words(),
        kind: Joi.string()
          .valid(...NUMBER_KINDS)
          .required(),
        document_id: id().description(
          "The document's id, also after its deletion; the id of no document for a skipped number",
        ),
        drawn_at: timestamp(),
        deleted_at: orNull(Joi.string().isoDate()),
      }).meta({ schema: 'DrawnNumber' }),
    )
    .required(),
})
  .id('NumberingAudit')
  .example({
    gapless: true,
    kinds: {
      invoice: {
        gapless: true,
        drawn: 1,
        live: 1,
        deleted: 0,
        holes: [],
        lost: [],
        sequences: [{ period: null, first: 1, last: 1 }],
      },
    },
    numbers: [
      { number: 'INV-0001', kind: 'invoice', document_id: exampleId.invoices, drawn_at: exampleTime, deleted_at: null },
    ],
  });
