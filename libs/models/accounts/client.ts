// A customer of the account.

import type { NeededFormat } from '../../e-invoice/formats.ts';
import type { PostalAddress } from '../../identifiers/postal-address.ts';
import type { Session } from '../../mongo/connection.ts';
import type { EarlyPaymentDiscount } from '../../rules/money/early-payment.ts';
import { type ReminderRule, reminderRuleView } from '../../rules/reminders/reminder-steps.ts';
import { TAX_TREATMENTS, type TaxTreatment } from '../../rules/taxes/document-taxes.ts';
import type { MemberRate } from '../../rules/time/hourly-rate.ts';
import type { TimeRounding } from '../../rules/time/time-rounding.ts';
import { searchText } from '../../search-text.ts';
import type { ListingOf } from '../list-indexes.ts';
import { COUNTED_TOGETHER } from '../record-counts.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, findAllOwn, recordsOf, type Stamped } from '../records.ts';
import { type Id, type StoredId, storedId } from '../tenant.ts';
import { type ElectronicAddress, type LegalId, legalIdView, postalAddressView } from './party-fields.ts';

/**
 * The fields that callers can set. A new field also needs a row in CLIENT_FIELDS, and `tsc` asks for it in input and
 * response.
 */
export interface ClientFields {
  name: string;
  /** Empty for a client without one, where the account allows it. */
  email: string;
  company_name?: string | null;
  phone?: string | null;
  address?: string | null;
  tax_id?: string | null;
  legal_id?: LegalId | null;
  vat_id?: string | null;
  electronic_address?: ElectronicAddress | null;
  postal_address?: PostalAddress | null;
  /** A reference that the client wants on every invoice, such as a Leitweg-ID. */
  buyer_reference?: string | null;
}

/** The use of each field. Anonymising a client erases every field in this table, see client-erasure.ts. */
const CLIENT_FIELDS: Readonly<Record<keyof ClientFields, FieldUse>> = {
  name: { isSearched: true, isFrozen: true },
  email: { isSearched: true, isFrozen: true },
  company_name: { isSearched: true, isFrozen: true },
  phone: { isSearched: false, isFrozen: true },
  address: { isSearched: false, isFrozen: true },
  tax_id: { isSearched: false, isFrozen: true },
  legal_id: { isSearched: false, isFrozen: true, isObject: true },
  vat_id: { isSearched: true, isFrozen: true },
  electronic_address: { isSearched: false, isFrozen: true, isObject: true },
  postal_address: { isSearched: false, isFrozen: true, isObject: true },
  buyer_reference: { isSearched: false, isFrozen: true },
};

interface FieldUse {
  /** True when `q` of the list searches the field. */
  isSearched: boolean;
  /**
   * True when a document keeps the value of the moment of issue, see billing/parties.ts. It is right for fields that
   * documents print.
   */
  isFrozen: boolean;
  /** True for a field that is no text. It is never searched. */
  isObject?: true;
}

/** The terms for billing the client. They do not identify a person, so they stay when the client is anonymised. */
export interface BillingTerms {
  hourly_rate?: number | null;
  member_rates?: MemberRate[] | null;
  /** The currency of new invoices from time. */
  currency?: string | null;
  payment_days?: number | null;
  rounding?: TimeRounding | null;
  /** The treatment of new invoices and quotes. Absent means `standard`. */
  tax_treatment?: TaxTreatment | null;
  /** The format in which its invoices must be expressible. The account's counts unless given. */
  e_invoice_format?: NeededFormat | null;
  /** Whether the printed PDF stands in its e-invoices in XML. The account's wish counts unless given. */
  e_invoice_pdf?: boolean | null;
  /** The discounts for early payment of its new invoices. The account's count unless given; an empty list is none. */
  early_payment_discounts?: EarlyPaymentDiscount[] | null;
  /** Whether its invoices are reminded of. */
  reminders?: ReminderRule | null;
  /** True when the account collects the money itself, such as by direct debit: no reminder asks for it before the due date. */
  auto_collect?: boolean | null;
}

export interface ClientRecord extends Stamped, ClientFields, BillingTerms {
  status: string;
  /** The searched fields in the form of searchText. `q` looks here, and the order by name uses it. */
  search: string;
  /** The time at which the client was anonymised, see client-erasure.ts. */
  anonymised_at?: Date;
  /** The time at which the account removed or replaced its address. Nothing goes by itself to those who got mail before. */
  email_removed_at?: Date;
  /** See lockOwn. */
  lock_version?: number;
}

export const clientListing: ListingOf<ClientRecord, 'created_at' | 'updated_at' | 'name'> = {
  filters: [],
  orders: { created_at: '_id', updated_at: 'updated_at', name: 'search' },
  standard: '-created_at',
};

/**
 * True of what was made before the account removed or replaced the address of the client: those who got it may be the
 * client's people no longer.
 */
export function isOfFormerAddress(client: Pick<ClientRecord, 'email_removed_at'> | null, madeAt: Date): boolean {
  return Boolean(client?.email_removed_at && madeAt <= client.email_removed_at);
}

/** Letters are equal in either case. */
export const ANY_CASE = { locale: 'en', strength: 2 } as const;

const clientSchema = recordSchema<ClientRecord>(
  'clients',
  {
    ...declaredFields(),
    hourly_rate: { type: Number },
    member_rates: { type: Object },
    currency: { type: String },
    payment_days: { type: Number },
    rounding: { type: Object },
    tax_treatment: { type: String, enum: [...TAX_TREATMENTS, null] },
    e_invoice_format: { type: String },
    e_invoice_pdf: { type: Boolean },
    early_payment_discounts: { type: Object },
    reminders: { type: Object },
    auto_collect: { type: Boolean },
    status: { type: String, required: true, default: 'invited' },
    search: { type: String, required: true },
    anonymised_at: Date,
    email_removed_at: Date,
    lock_version: Number,
  },
  clientListing,
);

// Erasing a client looks here for others with its address.
clientSchema.index({ account_id: 1, email: 1 }, { collation: ANY_CASE });

export const Client = recordsOf<ClientRecord>('Client', clientSchema, COUNTED_TOGETHER);

/** Returns the id of another client with this address, in whatever case it is written. */
export async function findByEmail(
  accountId: Id,
  email: string,
  { except, session }: { except: StoredId; session: Session },
): Promise<StoredId | undefined> {
  const own = { account_id: storedId(accountId), email, _id: { $ne: except } } as object;
  const found = await driverOf(Client).findOne(own, { session, collation: ANY_CASE, projection: { _id: 1 } });
  return (found as Pick<ClientRecord, '_id'> | null)?._id;
}

/** Returns the names of the fields that `isWanted` accepts. */
export function clientFieldNames(isWanted: (use: FieldUse) => boolean = () => true): readonly (keyof ClientFields)[] {
  return (Object.keys(CLIENT_FIELDS) as (keyof ClientFields)[]).filter((name) => isWanted(CLIENT_FIELDS[name]));
}

function declaredFields() {
  const declared = (name: keyof ClientFields) => ({ type: CLIENT_FIELDS[name].isObject ? Object : String });
  return Object.fromEntries(clientFieldNames().map((name) => [name, declared(name)])) as Record<
    keyof ClientFields,
    object
  >;
}

const SEARCHED = clientFieldNames(({ isSearched }) => isSearched);

/** Returns the value of the field `search`. */
export function searchOf(client: ClientFields): string {
  return searchText(SEARCHED.map((name) => (client[name] ?? '') as string).join('\n'));
}

/** Returns the client in the form of the API. Fields that were never given are absent. */
export function clientView(client: ClientRecord) {
  const { legal_id, postal_address, ...others } = givenFields(client);
  return {
    id: String(client._id),
    ...others,
    email: client.email,
    ...given('legal_id', legalIdView(legal_id)),
    ...given('postal_address', postalAddressView(postal_address)),
    ...given('hourly_rate', client.hourly_rate),
    ...given('member_rates', client.member_rates),
    ...given('currency', client.currency),
    ...given('payment_days', client.payment_days),
    ...given('rounding', client.rounding),
    ...given('tax_treatment', client.tax_treatment),
    ...given('e_invoice_format', client.e_invoice_format),
    ...given('e_invoice_pdf', client.e_invoice_pdf),
    ...given('early_payment_discounts', client.early_payment_discounts),
    ...given('reminders', reminderRuleView(client.reminders)),
    ...given('auto_collect', client.auto_collect),
    status: client.status,
    ...(client.anonymised_at ? { anonymised_at: client.anonymised_at.toISOString() } : {}),
    created_at: client.created_at.toISOString(),
    updated_at: client.updated_at.toISOString(),
  };
}

function given<Name extends string, Value>(name: Name, value: Value | null | undefined): { [key in Name]?: Value } {
  return value === null || value === undefined ? {} : ({ [name]: value } as { [key in Name]?: Value });
}

/**
 * Returns the client's fields without empty ones.
 * @param names the wanted fields; all that callers can set unless given.
 */
export function givenFields(client: ClientFields, names = clientFieldNames()): GivenFields {
  const given = names.flatMap((name) => (client[name] ? [[name, client[name]]] : []));
  return Object.fromEntries(given) as GivenFields;
}

type GivenFields = { [Name in keyof ClientFields]: NonNullable<ClientFields[Name]> };

export type ClientDetails = Pick<ClientRecord, '_id' | 'name' | 'email' | 'company_name'>;

export interface EmbeddedClient {
  id: Id;
  name: string;
  email: string;
  company_name?: string;
}

/** Returns the form in which projects, quotes and invoices embed the client. */
export function embeddedClient(client: ClientDetails): EmbeddedClient {
  return {
    id: String(client._id),
    name: client.name,
    email: client.email,
    ...(client.company_name ? { company_name: client.company_name } : {}),
  };
}

/** Returns the clients that records refer to, by id, with the fields that are embedded. */
export function clientsOf(accountId: Id, ids: readonly StoredId[], session?: Session): Promise<Map<Id, ClientRecord>> {
  return findAllOwn(Client, accountId, ids.map(String), ['name', 'email', 'company_name'], session);
}
