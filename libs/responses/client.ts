// Response shapes of clients.
import Joi from 'joi';
import { INVOICE_FORMAT_NAMES } from '../e-invoice/formats.ts';
import type { clientView } from '../models/accounts/client.ts';
import { TAX_TREATMENTS } from '../rules/taxes/document-taxes.ts';
import {
  currencyCode,
  earlyPaymentResponse,
  electronicAddressResponse,
  exampleClient,
  exampleTime,
  id,
  legalIdResponse,
  maybeWords,
  memberRatesResponse,
  postalAddressResponse,
  reminderRuleResponse,
  roundingResponse,
  timestamp,
  words,
} from './response-fields.ts';

export const clientResponse = Joi.object<ReturnType<typeof clientView>, true>({
  id: id(),
  name: words(),
  email: words(),
  company_name: maybeWords(),
  phone: maybeWords(),
  address: maybeWords(),
  tax_id: maybeWords(),
  legal_id: legalIdResponse(),
  vat_id: maybeWords(),
  electronic_address: electronicAddressResponse(),
  postal_address: postalAddressResponse(),
  buyer_reference: maybeWords(),
  hourly_rate: Joi.number(),
  member_rates: memberRatesResponse().optional(),
  currency: currencyCode(),
  payment_days: Joi.number(),
  rounding: roundingResponse().optional(),
  tax_treatment: Joi.string().valid(...TAX_TREATMENTS),
  early_payment_discounts: earlyPaymentResponse().optional(),
  e_invoice_format: Joi.string()
    .valid(...INVOICE_FORMAT_NAMES, 'none')
    .description('The format in which its invoices must be expressible; `none` needs none'),
  e_invoice_pdf: Joi.boolean().description('Whether the printed PDF stands in its e-invoices in XML'),
  status: words().description('`invited` on creation'),
  reminders: reminderRuleResponse().optional(),
  auto_collect: Joi.boolean().description('You collect its money yourself: no reminder before the due date'),
  anonymised_at: Joi.string().isoDate().description('Only of a client that was anonymised'),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('ClientRecord')
  .example({ ...exampleClient, status: 'invited', created_at: exampleTime, updated_at: exampleTime });
