// Issuer and client of a stored document as the renderer prints them.
import { printedAddress } from '../identifiers/postal-address.ts';
import { registerName } from '../identifiers/schemes.ts';
import { printedVatId } from '../identifiers/vat-id.ts';
import type { LegalId } from '../models/accounts/party-fields.ts';
import type { Parties } from '../models/billing/parties.ts';

/** Returns issuer and client as they are printed. @param locale of the document, whose language has the names of countries. */
export function printedParties({ issuer, client }: Parties, locale: string) {
  const countries = { issuer: issuer.postal_address?.country, client: client.postal_address?.country };
  const shownName = issuer.company ?? issuer.name;
  return {
    clientName: client.name,
    clientEmail: client.email ?? '',
    clientCompany: client.company_name,
    // A letter within a country does not name it.
    clientAddress: printedAddress(client, { locale, from: countries.issuer }),
    clientTaxId: otherTaxId(client),
    clientVatId: client.vat_id && printedVatId(client.vat_id),
    clientLegalId: registered(client.legal_id),
    partnerName: issuer.name,
    partnerEmail: issuer.email ?? '',
    partnerCompany: issuer.company,
    partnerAddress: printedAddress(issuer, { locale, from: countries.client ?? countries.issuer }),
    partnerTaxId: otherTaxId(issuer),
    partnerVatId: issuer.vat_id && printedVatId(issuer.vat_id),
    partnerTaxNumber: issuer.tax_number,
    partnerLegalId: registered(issuer.legal_id),
    partnerLegalName: issuer.legal_name === shownName ? undefined : issuer.legal_name,
    partnerPhone: issuer.phone,
    legalNote: issuer.legal_note,
  };
}

function registered(id: LegalId | undefined): string | undefined {
  return id && [registerName(id.scheme), id.value].filter(Boolean).join(' ');
}

/** Returns the free `tax_id` where it is another number than those beside it. */
function otherTaxId({ tax_id, vat_id, tax_number }: { tax_id?: string; vat_id?: string; tax_number?: string }) {
  const plain = (text: string | undefined) => text?.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase();
  return [plain(vat_id), plain(tax_number)].includes(plain(tax_id)) ? undefined : tax_id;
}
