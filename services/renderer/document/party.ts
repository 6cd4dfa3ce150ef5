// The issuer and the client as they are printed: names, addresses, tax numbers, and the legal foot of the issuer.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import type { Labels } from './labels.ts';
import { inLine, inLines, printable } from './texts.ts';

export interface Party {
  label: string;
  /** The company, or the person when there is none; may have several lines. */
  name: string;
  /** The name in one line. */
  nameInLine: string;
  lines: string[];
}

/** Inserts soft hyphens. */
type Hyphenated = (text: string) => string;

export function issuerOf(document: PrintableDocument, labels: Labels, hyphenated: Hyphenated): Party {
  const { partnerCompany, partnerName, partnerEmail, partnerAddress, partnerTaxId } = document;
  const fields = { company: partnerCompany, person: partnerName, email: partnerEmail, address: partnerAddress };
  return party(labels, labels.from, { ...fields, taxId: partnerTaxId }, hyphenated);
}

export function clientOf(document: PrintableDocument, labels: Labels, hyphenated: Hyphenated): Party {
  const { clientCompany, clientName, clientEmail, clientAddress, clientTaxId } = document;
  const fields = { company: clientCompany, person: clientName, email: clientEmail, address: clientAddress };
  return party(labels, labels.to, { ...fields, taxId: clientTaxId }, hyphenated);
}

interface PartyFields {
  company: string | undefined;
  person: string;
  email: string;
  address: string | undefined;
  taxId: string | undefined;
}

function party(
  labels: Labels,
  label: string,
  { company, person, email, address, taxId }: PartyFields,
  hyphenated: Hyphenated,
): Party {
  const number = printable(taxId);
  const lines = [address, email, number && labels.taxId(number)];
  const name = printable(company);
  const shown = name ?? person;
  return {
    label,
    name: hyphenated(shown),
    nameInLine: inLine(shown),
    lines: [name && person, ...lines].flatMap((text) => hyphenated(printable(text) ?? '') || []),
  };
}

/** The tax number and the payment details of the account, for the foot of each page. */
export function legalOf({ partnerTaxId, bankDetails }: PrintableDocument, labels: Labels): string {
  const taxId = printable(partnerTaxId);
  return [taxId && labels.taxId(taxId), printable(bankDetails)]
    .flatMap((text) => (text ? inLines(text) : []))
    .join(' · ');
}
