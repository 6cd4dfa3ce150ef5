// Response shapes of items.
import Joi from 'joi';
import type { itemView } from '../models/billing/item.ts';
import { exampleId } from './example-ids.ts';
import { exampleTime, id, number, orNull, timestamp, words } from './response-fields.ts';

export const itemResponse = Joi.object<ReturnType<typeof itemView>, true>({
  id: id(),
  name: words(),
  description: orNull(Joi.string()),
  unit: orNull(Joi.string()),
  rate: number(),
  tax_rate: orNull(Joi.number()).description("Null is the document's"),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('Item')
  .example({
    id: exampleId.items,
    name: 'Workshop',
    description: 'Half a day, up to twelve people',
    unit: 'piece',
    rate: 850,
    tax_rate: null,
    created_at: exampleTime,
    updated_at: exampleTime,
  });
