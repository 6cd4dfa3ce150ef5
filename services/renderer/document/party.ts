// Issuer and client in their printed form: names, addresses, tax numbers, and the legal foot of the issuer.

import type { Labels } from '#libs/documents/labels.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { inLine, inLines, printable, withNumberBound } from './texts.ts';

export interface Party {
  label: string;
  /** The company, or the person when there is none. It may have several lines. */
  name: string;
  /** The name in one line. */
  nameInLine: string;
  lines: string[];
}

/** A function that inserts soft hyphens. */
type Hyphenated = (text: string) => string;

export function issuerOf(document: PrintableDocument, labels: Labels, hyphenated: Hyphenated): Party {
  const { partnerCompany, partnerName, partnerEmail, partnerAddress, partnerPhone } = document;
  const fields = { company: partnerCompany, person: partnerName, email: partnerEmail, address: partnerAddress };
  // Tax numbers are in the foot of every page.
  const numbers = [labelled(partnerPhone, (phone) => phone)];
  return party(labels.from, { ...fields, numbers }, hyphenated);
}

export function clientOf(document: PrintableDocument, labels: Labels, hyphenated: Hyphenated): Party {
  const { clientCompany, clientName, clientEmail, clientAddress, clientTaxId, clientVatId, clientLegalId } = document;
  const fields = { company: clientCompany, person: clientName, email: clientEmail, address: clientAddress };
  const numbers = [
    labelled(clientLegalId, (id) => registerNumber(id, labels)),
    labelled(clientVatId, labels.vatId),
    labelled(clientTaxId, labels.taxId),
  ];
  return party(labels.to, { ...honoured(fields, document), numbers }, hyphenated);
}

/** Adds Japanese honorifics: 様 for a person, 御中 for a company without a person. */
function honoured<Fields extends Pick<PartyFields, 'company' | 'person'>>(
  fields: Fields,
  { locale }: PrintableDocument,
) {
  if (!/^ja\b/i.test(locale ?? '')) return fields;
  const { company, person } = fields;
  const named = printable(company);
  const withTitle = (name: string, title: string) => (/(?:様|御中|殿|先生)\s*$/.test(name) ? name : `${name} ${title}`);
  if (named && isSame(named, person)) return { ...fields, company: withTitle(named, '御中') };
  return { ...fields, person: withTitle(person, '様') };
}

interface PartyFields {
  company: string | undefined;
  person: string;
  email: string;
  address: string | undefined;
  /** The numbers with their labels. */
  numbers: readonly (string | undefined)[];
}

function party(
  label: string,
  { company, person, email, address, numbers }: PartyFields,
  hyphenated: Hyphenated,
): Party {
  const lines = [address, email, ...numbers];
  const name = printable(company);
  const shown = name ?? person;
  return {
    label,
    name: hyphenated(shown),
    nameInLine: inLine(shown),
    lines: [name && !isSame(name.replace(/ 御中$/, ''), person) && person, ...lines].flatMap(
      (text) => hyphenated(printable(text || undefined) ?? '') || [],
    ),
  };
}

/** True when two names are the same, so that a sole trader is named once. */
function isSame(name: string, other: string): boolean {
  const plain = (text: string) => inLine(text).normalize('NFKC').toLowerCase();
  return plain(name) === plain(other);
}

/**
 * Returns the foot with the issuer's details that the law wants on every page. Bank details are in the document itself.
 */
export function legalOf(document: PrintableDocument, labels: Labels): string[] {
  const { partnerLegalName, partnerLegalId, legalNote } = document;
  const name = [printable(partnerLegalName), labelled(partnerLegalId, (id) => registerNumber(id, labels))];
  return [name, taxNumbersOf(document, labels), inLines(printable(legalNote) ?? '')].flatMap(
    (texts) => texts.filter(Boolean).join(' · ') || [],
  );
}

function taxNumbersOf({ partnerVatId, partnerTaxNumber, partnerTaxId }: PrintableDocument, labels: Labels): string[] {
  return [
    labelled(partnerVatId, labels.vatId),
    labelled(partnerTaxNumber, labels.taxNumber),
    labelled(partnerTaxId, labels.taxId),
  ].filter((text) => text !== undefined);
}

/** Labels a register number without letters. One with letters names its register itself. */
function registerNumber(id: string, labels: Labels): string {
  return /\p{L}/u.test(id) ? id : labels.registerNumber(id);
}

function labelled(text: string | undefined, label: (text: string) => string): string | undefined {
  const shown = printable(text);
  return shown && withNumberBound(label, shown);
}
