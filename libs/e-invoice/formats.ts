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
  isData?: true | undefined;
}

/** The profiles of Factur-X that are not the norm itself: parts of it, and `extended`, which may have more. */
type Profile = 'minimum' | 'basicwl' | 'basic' | 'extended';

const CORE = 'urn:cen.eu:en16931:2017';
const XRECHNUNG = `${CORE}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0`;
const PEPPOL = `${CORE}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0`;
const FACTUR_X = 'urn:factur-x.eu:1p0';
const BILLING = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';

/** Returns a profile of Factur-X that is not the norm itself. */
const profiled = (profile: Profile, level: string, specification: string, isData?: true): Format => ({
  rules: `Factur-X ${level}`,
  syntax: 'cii',
  profile,
  specification,
  file: `facturx-${profile}`,
  embedded: { file: 'factur-x.xml', level, version: '1.0', isData },
});

const XRECHNUNG_CII = {
  rules: 'XRechnung',
  syntax: 'cii',
  specification: XRECHNUNG,
  process: BILLING,
  file: 'xrechnung',
} as const;

const FORMATS = {
  'xrechnung-ubl': { ...XRECHNUNG_CII, syntax: 'ubl' },
  'xrechnung-cii': XRECHNUNG_CII,
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
  'facturx-xrechnung': { ...XRECHNUNG_CII, embedded: { file: 'xrechnung.xml', level: 'XRECHNUNG', version: '3.0' } },
  'facturx-extended': profiled('extended', 'EXTENDED', `${CORE}#conformant#${FACTUR_X}:extended`),
  'facturx-basic': profiled('basic', 'BASIC', `${CORE}#compliant#${FACTUR_X}:basic`),
  'facturx-basicwl': profiled('basicwl', 'BASIC WL', `${FACTUR_X}:basicwl`, true),
  'facturx-minimum': profiled('minimum', 'MINIMUM', `${FACTUR_X}:minimum`, true),
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
