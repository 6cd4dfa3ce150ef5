// The issuer and the client as they are printed: names, addresses, tax numbers, and the legal foot of the issuer.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import type { Labels } from './labels.ts';
import { inLine, inLines, printable, withNumberBound } from './texts.ts';

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
  const { partnerCompany, partnerName, partnerEmail, partnerAddress, partnerPhone } = document;
  const fields = { company: partnerCompany, person: partnerName, email: partnerEmail, address: partnerAddress };
  const numbers = [labelled(partnerPhone, (phone) => phone), ...taxNumbersOf(document, labels)];
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
  return party(labels.to, { ...fields, numbers }, hyphenated);
}

interface PartyFields {
  company: string | undefined;
  person: string;
  email: string;
  address: string | undefined;
  /** With their labels. */
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
    lines: [name && person, ...lines].flatMap((text) => hyphenated(printable(text) ?? '') || []),
  };
}

/** What the law wants on every page, for its foot: who the issuer is, and where to pay. */
export interface Legal {
  lines: readonly string[];
  /** A second column; empty without an account in parts. */
  bank: readonly string[];
}

export function legalOf(document: PrintableDocument, labels: Labels): Legal {
  const { partnerLegalName, partnerLegalId, legalNote, bankDetails } = document;
  const taxNumbers = taxNumbersOf(document, labels);
  const bank = inLines(printable(bankDetails) ?? '');
  const name = [printable(partnerLegalName), labelled(partnerLegalId, (id) => registerNumber(id, labels))];
  const note = inLines(printable(legalNote) ?? '');
  const isPlain = [...name, ...note, document.partnerVatId, document.partnerTaxNumber].every((text) => !text);
  if (isPlain) return { lines: [[...taxNumbers, ...bank].join(' · ')], bank: [] };
  return { lines: [name, taxNumbers, note].map((texts) => texts.filter(Boolean).join(' · ')), bank };
}

function taxNumbersOf({ partnerVatId, partnerTaxNumber, partnerTaxId }: PrintableDocument, labels: Labels): string[] {
  return [
    labelled(partnerVatId, labels.vatId),
    labelled(partnerTaxNumber, labels.taxNumber),
    labelled(partnerTaxId, labels.taxId),
  ].filter((text) => text !== undefined);
}

/** A number alone says nothing; with letters it names its register itself. */
function registerNumber(id: string, labels: Labels): string {
  return /\p{L}/u.test(id) ? id : labels.registerNumber(id);
}

function labelled(text: string | undefined, label: (text: string) => string): string | undefined {
  const shown = printable(text);
  return shown && withNumberBound(label, shown);
}
