// Input of clients.
import Joi from 'joi';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { INVOICE_FORMAT_NAMES } from '#libs/e-invoice/formats.ts';
import { appError, problemOf, validationFailed } from '#libs/errors.ts';
import { currency, line, name, text } from '#libs/input/kinds.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import {
  type BillingTerms,
  Client,
  type ClientFields,
  type ClientRecord,
  clientListing,
} from '#libs/models/accounts/client.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { emailForm } from '#libs/profile-forms.ts';
import { TAX_TREATMENTS } from '#libs/rules/taxes/document-taxes.ts';
import {
  type AppliesRate,
  appliesRate,
  applyToInput,
  earlyPaymentInput,
  hourlyRateInput,
  memberRatesInput,
  paymentDaysInput,
  roundingInput,
} from '../fields/billing-input.ts';
import { byText } from '../fields/list-filters.ts';
import { electronicAddressInput, legalIdInput, postalAddressInput, vatIdInput } from '../fields/party-input.ts';
import { reminderRuleInput } from '../fields/reminder-input.ts';
import { listOf } from '../http/list.ts';
import type { Caller } from '../http/route.ts';

export type NewClient = Omit<ClientFields, 'email'> & { email?: string | null } & BillingTerms;

export type ClientChanges = Partial<NewClient> & AppliesRate;

const SEARCH_LONGEST = 100;

const email = () =>
  emailForm(line())
    .allow('')
    .description('Empty only where `require_client_email` of the account is false. Such a client shows an empty one');
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
  early_payment_discounts: earlyPaymentInput().description(
    'Of its new invoices; those of the account unless given, none for an empty list',
  ),
  reminders: reminderRuleInput().description(
    'Whether its invoices are reminded of. An invoice has a rule of its own as well, and one that stops is enough',
  ),
  auto_collect: Joi.boolean()
    .allow(null)
    .description('Whether you collect its money yourself, as by direct debit: no reminder before the due date'),
  e_invoice_format: Joi.string()
    .valid(...INVOICE_FORMAT_NAMES, 'none')
    .allow(null)
    .description(
      'The format in which its invoices must be expressible to be issued, see the account; `none` needs none. That of the account unless given',
    ),
  e_invoice_pdf: Joi.boolean()
    .allow(null)
    .description("Whether the printed PDF stands in its e-invoices in XML (BG-24); the account's unless given"),
};

export const newClient = Joi.object<NewClient, true>({
  name: name().required(),
  // It takes null as well, which a typed client has no use for: a required field that may be null is awkward in many.
  email: email().empty(null).meta({ isRequired: true }),
  ...optional,
}).example({
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  company_name: 'Analytical Engines',
  phone: '+44 20 7946 0018',
});

export const clientChanges = Joi.object<ClientChanges, true>({
  name: name(),
  email: email().allow(null),
  ...optional,
  apply_to: applyToInput('hourly_rate'),
})
  .custom(appliesRate)
  .example({ phone: '+44 20 7946 0019' });

export const clientList = listOf<ClientRecord>(Client, clientListing, {
  q: byText(SEARCH_LONGEST, 'Part of the name, email, company or VAT id'),
});

/** @throws AppError 400 with the specification's literal text, whichever of the two is missing. */
export async function requireNameAndEmail(body: unknown, { accountId }: Pick<Caller, 'accountId'>): Promise<void> {
  const { name, email } = (body ?? {}) as { name?: unknown; email?: unknown };
  const isMissing = (value: unknown) => value === undefined || value === null || value === '';
  const absent = Object.entries({ name, email }).flatMap(([field, value]) => (isMissing(value) ? [field] : []));
  const isNeeded = !absent.includes('email') || (await needsEmail(accountId));
  const fields = isNeeded ? absent : absent.filter((field) => field !== 'email');
  if (fields.length === 0) return;
  throw appError(
    'missing_required_fields',
    { fields },
    { problems: fields.map((field) => problemOf(field, 'required')) },
  );
}

/** Checks a change to no email. @throws AppError 400 unless the account allows clients without one. */
export async function requireEmailUnlessAllowed(
  { email }: ClientChanges,
  { accountId, session }: Pick<UnitOfWork, 'accountId' | 'session'>,
): Promise<void> {
  if (email === undefined || email || !(await needsEmail(accountId, session))) return;
  const problem =
    email === ''
      ? problemOf('email', 'empty')
      : { path: ['email'], code: 'wrong_type' as const, message: 'email must be a string', params: { type: 'string' } };
  throw validationFailed([problem]);
}

async function needsEmail(accountId: Id, session?: Session): Promise<boolean> {
  return (await readAccount(accountId, session)).require_client_email !== false;
}
