// Input of items.
import Joi from 'joi';
import { name, paragraphs } from '#libs/input/kinds.ts';
import { Item, type ItemRecord, itemListing } from '#libs/models/billing/item.ts';
import { byText } from '../fields/list-filters.ts';
import { percentage, rate, unit } from '../fields/money-input.ts';
import { listOf } from '../http/list.ts';

/** Name and description together are the text of a line, which has at most 2,000 characters. */
const NAME_LONGEST = 200;
const DESCRIPTION_LONGEST = 1_700;
/** A longer one would only cost time: no name is so long. */
const SEARCH_LONGEST = 200;

export interface NewItem {
  name: string;
  description?: string | null;
  unit?: string | null;
  rate: number;
  tax_rate?: number | null;
}

export type ItemChanges = Partial<NewItem>;

const optional = {
  description: paragraphs().max(DESCRIPTION_LONGEST).allow(null, '').description('Follows the name on the line'),
  unit: unit().allow(null),
  tax_rate: percentage()
    .allow(null)
    .description("Per cent; the document's unless given, so that its client's `tax_treatment` counts"),
};

export const newItem = Joi.object<NewItem, true>({
  name: name().max(NAME_LONGEST).required(),
  ...optional,
  rate: rate().required().description('In the currency of the document that it is copied into'),
}).example({ name: 'Workshop', description: 'Half a day, up to twelve people', unit: 'piece', rate: 850 });

export const itemChanges = Joi.object<ItemChanges, true>({
  name: name().max(NAME_LONGEST),
  ...optional,
  rate: rate(),
}).example({ rate: 890 });

export const itemList = listOf<ItemRecord>(Item, itemListing, {
  q: byText(SEARCH_LONGEST, 'Part of the name or description'),
});
