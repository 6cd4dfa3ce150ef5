// Issuer and recipient of a document, frozen when it is sent. Later changes of profile or client do not rewrite an
// issued document.

import type { PostalAddress } from '../../identifiers/postal-address.ts';
import type { PaymentOption } from '../../rules/paying/payment-options.ts';
import type { AccountRecord } from '../accounts/account.ts';
import {
  type ClientDetails,
  type ClientFields,
  type ClientRecord,
  clientFieldNames,
  embeddedClient,
  givenFields,
} from '../accounts/client.ts';
import type { ElectronicAddress, LegalId } from '../accounts/party-fields.ts';

/** The projection that leaves the issuer out, which may contain an inlined logo. */
export const WITHOUT_ISSUER = { 'parties.issuer': 0 } as const;

interface Issuer {
  name: string;
  email?: string;
  company?: string;
  address?: string;
  tax_id?: string;
  bank_details?: string;
  legal_name?: string;
  legal_id?: LegalId;
  vat_id?: string;
  tax_number?: string;
  legal_note?: string;
  electronic_address?: ElectronicAddress;
  postal_address?: PostalAddress;
  phone?: string;
  payment_options?: PaymentOption[];
  logo_url?: string;
  brand_color?: string;
  locale: string;
}

/** The frozen fields of the client, see CLIENT_FIELDS. */
type Recipient = { id: string } & Omit<FrozenFields, 'email'> & Partial<Pick<FrozenFields, 'email'>>;
type FrozenFields = { [Name in keyof ClientFields]: NonNullable<ClientFields[Name]> };

export interface Parties {
  issuer: Issuer;
  client: Recipient;
}

/** The declaration of frozen parties in a mongoose schema. */
export const partiesField = {
  type: {
    _id: false,
    issuer: { type: Object, required: true },
    client: { type: Object, required: true },
  },
  default: undefined,
} as const;

const FROZEN = clientFieldNames(({ isFrozen }) => isFrozen);

/** Returns the parties to freeze into a document that is issued now. */
export function partiesOf(account: AccountRecord, client: ClientRecord): Parties {
  return { issuer: issuerOf(account), client: recipientOf(client) };
}

/** Returns the account as an issuer. */
export function issuerOf(account: AccountRecord): Issuer {
  return given({
    name: account.name,
    email: account.email,
    company: account.company,
    address: account.address,
    tax_id: account.tax_id,
    bank_details: account.bank_details,
    legal_name: account.legal_name,
    legal_id: account.legal_id as LegalId | undefined,
    vat_id: account.vat_id,
    tax_number: account.tax_number,
    legal_note: account.legal_note,
    electronic_address: account.electronic_address as ElectronicAddress | undefined,
    postal_address: account.postal_address as PostalAddress | undefined,
    phone: account.phone,
    payment_options: account.payment_options as PaymentOption[] | undefined,
    logo_url: account.logo_url,
    brand_color: account.brand_color,
    locale: account.locale,
  });
}

/** Returns the client as a recipient. */
export function recipientOf(client: ClientRecord): Recipient {
  return { id: String(client._id), ...givenFields(client, FROZEN) };
}

/** Returns the form in which a document embeds its frozen recipient. */
export function frozenClient({ client: { id, name, email, company_name } }: Parties) {
  return { id, name, email: email ?? '', ...(company_name ? { company_name } : {}) };
}

/** Returns the client that a document shows: the frozen one, else the present one. Null when the client is gone. */
export function shownClient(parties: Parties | undefined, client: ClientDetails | undefined) {
  if (parties) return frozenClient(parties);
  return client ? embeddedClient(client) : null;
}

/** Returns the fields without those that were never given. */
function given<Party>(fields: { [Name in keyof Party]: Party[Name] | null | undefined }): Party {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value)) as Party;
}
