// The document as UBL 2.1: an Invoice or a CreditNote.

import { type Xml, xmlDocument } from '../xml.ts';
import { type FormatName, formatOf } from './formats.ts';
import type { Address, Adjustment, EInvoice, ELine, ETax, Party, Seller, Taxed } from './terms.ts';

const SCHEMA = 'urn:oasis:names:specification:ubl:schema:xsd:';
const VAT: Xml = ['cac:TaxScheme', ['cbc:ID', 'VAT']];

type MoneyOf = (name: string, amount: string | undefined) => Xml;

export function ublOf(invoice: EInvoice, format: FormatName): string {
  const { specification, process } = formatOf(format);
  const { currency, totals, type, preceding } = invoice;
  const isCredit = type === '381';
  const root = isCredit ? 'CreditNote' : 'Invoice';
  const money: MoneyOf = (name, amount) =>
    amount === undefined ? undefined : [name, { currencyID: currency }, amount];
  return xmlDocument([
    root,
    {
      xmlns: `${SCHEMA}${root}-2`,
      'xmlns:cac': `${SCHEMA}CommonAggregateComponents-2`,
      'xmlns:cbc': `${SCHEMA}CommonBasicComponents-2`,
    },
    ['cbc:CustomizationID', specification],
    ['cbc:ProfileID', process],
    ['cbc:ID', invoice.number],
    ['cbc:IssueDate', invoice.issuedOn],
    isCredit ? undefined : ['cbc:DueDate', invoice.dueOn],
    [`cbc:${root}TypeCode`, type],
    ['cbc:Note', invoice.note],
    ['cbc:DocumentCurrencyCode', currency],
    ['cbc:BuyerReference', invoice.buyerReference],
    invoice.period && ['cac:InvoicePeriod', ['cbc:StartDate', invoice.period.from], ['cbc:EndDate', invoice.period.to]],
    ['cac:OrderReference', ['cbc:ID', invoice.order]],
    ...preceding.map(
      ({ number, issuedOn }): Xml => [
        'cac:BillingReference',
        ['cac:InvoiceDocumentReference', ['cbc:ID', number], ['cbc:IssueDate', issuedOn]],
      ],
    ),
    ['cac:ContractDocumentReference', ['cbc:ID', invoice.contract]],
    ...(invoice.attachments ?? []).map(
      ({ id, description, fileName, mediaType, bytes }): Xml => [
        'cac:AdditionalDocumentReference',
        ['cbc:ID', id],
        ['cbc:DocumentDescription', description],
        [
          'cac:Attachment',
          ['cbc:EmbeddedDocumentBinaryObject', { mimeCode: mediaType, filename: fileName }, bytes.toString('base64')],
        ],
      ],
    ),
    projectOf(invoice, isCredit),
    ['cac:AccountingSupplierParty', partyOf(invoice.seller)],
    ['cac:AccountingCustomerParty', partyOf(invoice.buyer)],
    deliveryOf(invoice),
    paymentOf(invoice, isCredit),
    ['cac:PaymentTerms', ['cbc:Note', invoice.paymentTerms]],
    ...invoice.adjustments.map((one) => adjustmentOf(one, money, taxCategory('cac:TaxCategory', one))),
    ['cac:TaxTotal', money('cbc:TaxAmount', totals.tax), ...invoice.taxes.map((tax) => subtotalOf(tax, money))],
    [
      'cac:LegalMonetaryTotal',
      money('cbc:LineExtensionAmount', totals.lines),
      money('cbc:TaxExclusiveAmount', totals.net),
      money('cbc:TaxInclusiveAmount', totals.gross),
      money('cbc:AllowanceTotalAmount', totals.allowances),
      money('cbc:ChargeTotalAmount', totals.charges),
      money('cbc:PayableRoundingAmount', totals.rounding),
      money('cbc:PayableAmount', totals.due),
    ],
    ...invoice.lines.map((line) => lineOf(line, isCredit, money)),
  ]);
}

/** Writes the project. A credit note has no element for it, and names a document of type 50 instead. */
function projectOf({ project }: EInvoice, isCredit: boolean): Xml {
  if (!project) return undefined;
  return isCredit
    ? ['cac:AdditionalDocumentReference', ['cbc:ID', project], ['cbc:DocumentTypeCode', '50']]
    : ['cac:ProjectReference', ['cbc:ID', project]];
}

function deliveryOf({ deliveredOn, deliveryCountry, buyer }: EInvoice): Xml {
  return [
    'cac:Delivery',
    ['cbc:ActualDeliveryDate', deliveredOn],
    deliveryCountry
      ? ['cac:DeliveryLocation', addressOf('cac:Address', { ...buyer.address, country: deliveryCountry })]
      : undefined,
  ];
}

function paymentOf({ payment, dueOn }: EInvoice, isCredit: boolean): Xml {
  if (!payment) return undefined;
  const { iban, holder, bic } = payment;
  return [
    'cac:PaymentMeans',
    ['cbc:PaymentMeansCode', payment.means],
    isCredit ? ['cbc:PaymentDueDate', dueOn] : undefined,
    ['cbc:PaymentID', payment.reference],
    iban
      ? [
          'cac:PayeeFinancialAccount',
          ['cbc:ID', iban],
          ['cbc:Name', holder],
          ['cac:FinancialInstitutionBranch', ['cbc:ID', bic]],
        ]
      : undefined,
  ];
}

function adjustmentOf(adjustment: Adjustment, money: MoneyOf, tax?: Xml): Xml {
  return [
    'cac:AllowanceCharge',
    ['cbc:ChargeIndicator', String(adjustment.isCharge)],
    ['cbc:AllowanceChargeReasonCode', adjustment.code],
    ['cbc:AllowanceChargeReason', adjustment.reason],
    ['cbc:MultiplierFactorNumeric', adjustment.percent],
    money('cbc:Amount', adjustment.amount),
    money('cbc:BaseAmount', adjustment.base),
    tax,
  ];
}

function taxCategory(name: string, { category, rate }: Taxed, reasons: Xml[] = [], isTotal = false): Xml {
  // Outside the scope of tax only the total has a rate (BR-DE-14, BR-O-05).
  const percent = category === 'O' && !isTotal ? undefined : rate;
  return [name, ['cbc:ID', category ?? undefined], ['cbc:Percent', percent], ...reasons, VAT];
}

function subtotalOf(tax: ETax, money: MoneyOf): Xml {
  const reasons: Xml[] = [
    ['cbc:TaxExemptionReasonCode', tax.code],
    ['cbc:TaxExemptionReason', tax.reason],
  ];
  return [
    'cac:TaxSubtotal',
    money('cbc:TaxableAmount', tax.taxable),
    money('cbc:TaxAmount', tax.tax),
    taxCategory('cac:TaxCategory', tax, reasons, true),
  ];
}

function lineOf(line: ELine, isCredit: boolean, money: MoneyOf): Xml {
  return [
    isCredit ? 'cac:CreditNoteLine' : 'cac:InvoiceLine',
    ['cbc:ID', line.id],
    [isCredit ? 'cbc:CreditedQuantity' : 'cbc:InvoicedQuantity', { unitCode: line.unit }, line.quantity],
    money('cbc:LineExtensionAmount', line.net),
    line.adjustment && adjustmentOf(line.adjustment, money),
    [
      'cac:Item',
      ['cbc:Description', line.description],
      ['cbc:Name', line.name],
      taxCategory('cac:ClassifiedTaxCategory', line),
    ],
    ['cac:Price', money('cbc:PriceAmount', line.price)],
  ];
}

function partyOf(party: Party | Seller): Xml {
  const { contact, electronicAddress, legalId, vatId, address } = party;
  const { taxNumber, legalNote } = party as Seller;
  return [
    'cac:Party',
    electronicAddress && ['cbc:EndpointID', { schemeID: electronicAddress.scheme }, electronicAddress.value],
    ['cac:PartyIdentification', ['cbc:ID', party.id]],
    ['cac:PartyName', ['cbc:Name', party.tradingName]],
    address && addressOf('cac:PostalAddress', address),
    vatId ? ['cac:PartyTaxScheme', ['cbc:CompanyID', vatId], VAT] : undefined,
    taxNumber ? ['cac:PartyTaxScheme', ['cbc:CompanyID', taxNumber], ['cac:TaxScheme', ['cbc:ID', 'FC']]] : undefined,
    [
      'cac:PartyLegalEntity',
      ['cbc:RegistrationName', party.name],
      legalId && ['cbc:CompanyID', schemeOf(legalId), legalId.value],
      ['cbc:CompanyLegalForm', legalNote],
    ],
    [
      'cac:Contact',
      ['cbc:Name', contact.name],
      ['cbc:Telephone', contact.phone],
      ['cbc:ElectronicMail', contact.email],
    ],
  ];
}

function schemeOf({ scheme }: { scheme?: string | undefined }) {
  return scheme ? { schemeID: scheme } : {};
}

function addressOf(name: string, address: Address): Xml {
  return [
    name,
    ['cbc:StreetName', address.line1],
    ['cbc:AdditionalStreetName', address.line2],
    ['cbc:CityName', address.city],
    ['cbc:PostalZone', address.postal_code],
    ['cbc:CountrySubentity', address.region],
    ['cac:AddressLine', ['cbc:Line', address.line3]],
    ['cac:Country', ['cbc:IdentificationCode', address.country]],
  ];
}
