// The formats of e-invoices: the identifiers of each, and the syntax that it is written in.

interface Format {
  /** The name of the rules, for people. */
  rules: string;
  syntax: 'ubl' | 'cii';
  /** The part of the norm that the format has room for. All of it unless given. */
  profile?: Profile;
  /** BT-24, the specification that the document claims to follow. */
  specification: string;
  /** BT-23, the business process. */
  process?: string;
  /** The end of the file's name. */
  file: string;
  /** The XML stands in the PDF of the document. */
  embedded?: Embedded;
}

/** How the metadata of the PDF names the XML in it (Factur-X 1.09, chapter 6). */
export interface Embedded {
  file: string;
  level: string;
  version: string;
  /** The two smallest profiles are data about the invoice: they have no lines. */
  isData?: true;
}

/** The profiles of Factur-X that are not the norm itself: parts of it, and `extended`, which may have more. */
export type Profile = 'minimum' | 'basicwl' | 'basic' | 'extended';

const CORE = 'urn:cen.eu:en16931:2017';
const XRECHNUNG = `${CORE}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0`;
const PEPPOL = `${CORE}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0`;
const FACTUR_X = 'urn:factur-x.eu:1p0';
const BILLING = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';

const FORMATS = {
  'xrechnung-ubl': { rules: 'XRechnung', syntax: 'ubl', specification: XRECHNUNG, process: BILLING, file: 'xrechnung' },
  'xrechnung-cii': { rules: 'XRechnung', syntax: 'cii', specification: XRECHNUNG, process: BILLING, file: 'xrechnung' },
  'peppol-ubl': { rules: 'Peppol BIS Billing', syntax: 'ubl', specification: PEPPOL, process: BILLING, file: 'peppol' },
  'en16931-ubl': { rules: 'EN 16931', syntax: 'ubl', specification: CORE, file: 'ubl' },
  'en16931-cii': { rules: 'EN 16931', syntax: 'cii', specification: CORE, file: 'cii' },
  facturx: {
    rules: 'EN 16931',
    syntax: 'cii',
    specification: CORE,
    file: 'facturx',
    embedded: { file: 'factur-x.xml', level: 'EN 16931', version: '1.0' },
  },
  'facturx-xrechnung': {
    rules: 'XRechnung',
    syntax: 'cii',
    specification: XRECHNUNG,
    process: BILLING,
    file: 'xrechnung',
    embedded: { file: 'xrechnung.xml', level: 'XRECHNUNG', version: '3.0' },
  },
  'facturx-extended': {
    rules: 'Factur-X EXTENDED',
    syntax: 'cii',
    profile: 'extended',
    specification: `${CORE}#conformant#${FACTUR_X}:extended`,
    file: 'facturx-extended',
    embedded: { file: 'factur-x.xml', level: 'EXTENDED', version: '1.0' },
  },
  'facturx-basic': {
    rules: 'Factur-X BASIC',
    syntax: 'cii',
    profile: 'basic',
    specification: `${CORE}#compliant#${FACTUR_X}:basic`,
    file: 'facturx-basic',
    embedded: { file: 'factur-x.xml', level: 'BASIC', version: '1.0' },
  },
  'facturx-basicwl': {
    rules: 'Factur-X BASIC WL',
    syntax: 'cii',
    profile: 'basicwl',
    specification: `${FACTUR_X}:basicwl`,
    file: 'facturx-basicwl',
    embedded: { file: 'factur-x.xml', level: 'BASIC WL', version: '1.0', isData: true },
  },
  'facturx-minimum': {
    rules: 'Factur-X MINIMUM',
    syntax: 'cii',
    profile: 'minimum',
    specification: `${FACTUR_X}:minimum`,
    file: 'facturx-minimum',
    embedded: { file: 'factur-x.xml', level: 'MINIMUM', version: '1.0', isData: true },
  },
} as const satisfies Record<string, Format>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

/** The formats that are invoices by themselves. The others are data beside a PDF, so that no account or client can need them. */
export const INVOICE_FORMAT_NAMES = FORMAT_NAMES.filter((name) => !formatOf(name).embedded?.isData);

/** The format that the invoices of a client must be expressible in. `none` switches off that of the account. */
export type NeededFormat = FormatName | 'none';

/** Returns the format that an invoice to the client needs: that of the client, else that of the account. */
export function neededFormat(
  client: { e_invoice_format?: string | null },
  account: { e_invoice_format?: string | null },
): FormatName | undefined {
  const needed = client.e_invoice_format ?? account.e_invoice_format;
  return FORMAT_NAMES.find((name) => name === needed);
}

export function formatOf(name: FormatName): Format {
  return FORMATS[name];
}
