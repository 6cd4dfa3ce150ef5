// Input of clients.
import Joi from 'joi';
import { appError, problemOf } from '#libs/errors.ts';
import {
  type BillingTerms,
  Client,
  type ClientFields,
  type ClientRecord,
  clientListing,
} from '#libs/models/accounts/client.ts';
import { emailForm } from '#libs/profile-forms.ts';
import { TAX_TREATMENTS } from '#libs/rules/taxes/document-taxes.ts';
import {
  type AppliesRate,
  appliesRate,
  applyToInput,
  hourlyRateInput,
  memberRatesInput,
  paymentDaysInput,
  roundingInput,
} from '../fields/billing-input.ts';
import { currency, line, name, text } from '../fields/input-fields.ts';
import { byText } from '../fields/list-filters.ts';
import { electronicAddressInput, legalIdInput, postalAddressInput, vatIdInput } from '../fields/party-input.ts';
import { listOf } from '../http/list.ts';

export type NewClient = ClientFields & BillingTerms;

export type ClientChanges = Partial<NewClient> & AppliesRate;

const SEARCH_LONGEST = 100;

const email = () => emailForm(line());
const optional = {
  company_name: line().allow(null, ''),
  phone: line().allow(null, ''),
  address: text().allow(null, ''),
  tax_id: line()
    .allow(null, '')
    .description('A number of either kind, printed as it is; a reverse charge takes it in place of a `vat_id`'),
  legal_id: legalIdInput(),
  vat_id: vatIdInput(),
  electronic_address: electronicAddressInput(),
  postal_address: postalAddressInput(),
  buyer_reference: line()
    .allow(null, '')
    .description('Printed on every invoice, such as a Leitweg-ID or a cost centre'),
  hourly_rate: hourlyRateInput().description('Of time for which neither entry, task nor project has one'),
  member_rates: memberRatesInput(),
  currency: currency().allow(null).description("Of new documents and payments; the account's unless given"),
  payment_days: paymentDaysInput().description(
    "Until an invoice is due that names no due date; the account's unless given",
  ),
  rounding: roundingInput().description("Of time, where the project has no rule; the account's unless given"),
  tax_treatment: Joi.string()
    .valid(...TAX_TREATMENTS)
    .allow(null)
    .description(
      'Of new documents without a `tax_rate`: `reverse_charge` gives rate 0 and category AE, `exempt` E, `export` G. `standard` unless given',
    ),
};

export const newClient = Joi.object<NewClient, true>({
  name: name().required(),
  email: email().required(),
  ...optional,
}).example({
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  company_name: 'Analytical Engines',
  phone: '+44 20 7946 0018',
});

export const clientChanges = Joi.object<ClientChanges, true>({
  name: name(),
  email: email(),
  ...optional,
  apply_to: applyToInput('hourly_rate'),
})
  .custom(appliesRate)
  .example({ phone: '+44 20 7946 0019' });

export const clientList = listOf<ClientRecord>(Client, clientListing, {
  q: byText(SEARCH_LONGEST, 'Part of the name, email, company or VAT id'),
});

/** @throws AppError 400 with the specification's literal text, whichever of the two is missing. */
export function requireNameAndEmail(body: unknown): void {
  const { name, email } = (body ?? {}) as { name?: unknown; email?: unknown };
  const isMissing = (value: unknown) => value === undefined || value === null || value === '';
  const fields = Object.entries({ name, email }).flatMap(([field, value]) => (isMissing(value) ? [field] : []));
  if (fields.length === 0) return;
  throw appError(
    'missing_required_fields',
    { fields },
    { problems: fields.map((field) => problemOf(field, 'required')) },
  );
}
