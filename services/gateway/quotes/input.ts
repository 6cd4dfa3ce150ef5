// What a caller may send about quotes.
import Joi from 'joi';
import { QUOTE_STATUSES, type QuoteStatus, quoteListing } from '#libs/models/billing/quote.ts';
import type { Id } from '#libs/models/tenant.ts';
import { type DatesInput, datesInput } from '../fields/dates-input.ts';
import { type DocumentFilters, documentFilters, rangeInput, severalOf } from '../fields/document-filters.ts';
import { exampleId } from '../fields/example-ids.ts';
import { currency, day, text, uuid } from '../fields/input-fields.ts';
import { amount, type LineInput, lineItems, newTaxRate, percentage } from '../fields/money-input.ts';
import { type ListQuery, listQuery } from '../http/page.ts';

export interface NewQuote extends DatesInput {
  client_id: Id;
  amount: number;
  project_id?: Id | null;
  expires_at?: string | null;
  description?: string | null;
  currency: string;
  tax_rate?: number;
  status: 'Draft' | 'Sent';
  line_items?: LineInput[] | null;
}

export interface QuoteChanges extends DatesInput {
  status?: QuoteStatus;
  description?: string | null;
  expires_at?: string | null;
  amount?: number;
  currency?: string;
  tax_rate?: number | null;
  line_items?: LineInput[] | null;
  client_id?: Id;
  project_id?: Id | null;
}

/** What null stands for is put in. */
export type GivenChanges = Omit<QuoteChanges, 'tax_rate' | 'expires_at'> & { tax_rate?: number; expires_at?: string };

export interface QuoteQuery extends ListQuery, DocumentFilters {
  client_id?: Id;
  status?: QuoteStatus[];
  expires_at_from?: string;
  expires_at_to?: string;
}

export const newQuote = Joi.object<NewQuote, true>({
  client_id: uuid().required(),
  amount: amount().required(),
  project_id: uuid().allow(null),
  expires_at: day().allow(null).description('The last day it can be accepted. 30 days after today unless given'),
  description: text().allow(null, ''),
  currency: currency().default('USD'),
  tax_rate: newTaxRate(),
  status: Joi.string().valid('Draft', 'Sent').default('Draft'),
  ...datesInput,
  line_items: lineItems(),
}).example({
  client_id: exampleId.clients,
  amount: 1140,
  currency: 'EUR',
  tax_rate: 19,
  description: 'Drawings of the mill',
});

export const quoteChanges = Joi.object<QuoteChanges, true>({
  status: Joi.string().valid(...QUOTE_STATUSES),
  description: text().allow(null, ''),
  expires_at: day(),
  amount: amount().description('With `line_items`, their sum; alone it stands beside the lines that are there'),
  currency: currency(),
  tax_rate: percentage(),
  line_items: lineItems().description('While not Accepted. Without `amount` their sum becomes the amount'),
  ...datesInput,
  client_id: uuid().description('While Draft; the project must be of the same client'),
  project_id: uuid().allow(null).description('While not Accepted'),
}).example({ description: 'Drawings of the mill and its wheel' });

export const quoteQuery = Joi.object<QuoteQuery>({
  client_id: uuid(),
  status: severalOf(QUOTE_STATUSES),
  ...documentFilters,
  ...rangeInput('expires_at'),
  ...listQuery(quoteListing),
});
