// The document as UN/CEFACT Cross Industry Invoice, D22B.

import { KEEP, type Xml, xmlDocument } from '../xml.ts';
import { type FormatName, formatOf } from './formats.ts';
import { withinFormat } from './profiles.ts';
import type { Address, Adjustment, EInvoice, ELine, ETax, Party, Period, Seller, Taxed } from './terms.ts';

/** A code of UNTDID 1001. */
const SUPPORTING_DOCUMENT = '916';
const SCHEMA = 'urn:un:unece:uncefact:data:standard:';

/** Returns the reason for no tax that is written on a line. */
type ReasonFor = (taxed: Taxed) => Pick<ETax, 'reason' | 'code'> | undefined;

export function ciiOf(whole: EInvoice, format: FormatName): string {
  const { specification, process, profile } = formatOf(format);
  const invoice = withinFormat(whole, format);
  // The extended profile wants the reason for no tax on the line, too (Factur-X 1.09).
  const reasonFor: ReasonFor = (taxed) =>
    profile === 'extended'
      ? invoice.taxes.find(({ category, rate }) => category === taxed.category && rate === taxed.rate)
      : undefined;
  return xmlDocument([
    'rsm:CrossIndustryInvoice',
    {
      'xmlns:rsm': `${SCHEMA}CrossIndustryInvoice:100`,
      'xmlns:ram': `${SCHEMA}ReusableAggregateBusinessInformationEntity:100`,
      'xmlns:udt': `${SCHEMA}UnqualifiedDataType:100`,
      'xmlns:qdt': `${SCHEMA}QualifiedDataType:100`,
    },
    [
      'rsm:ExchangedDocumentContext',
      ['ram:BusinessProcessSpecifiedDocumentContextParameter', ['ram:ID', process]],
      ['ram:GuidelineSpecifiedDocumentContextParameter', ['ram:ID', specification]],
    ],
    [
      'rsm:ExchangedDocument',
      ['ram:ID', invoice.number],
      ['ram:TypeCode', invoice.type],
      ['ram:IssueDateTime', dayOf(invoice.issuedOn)],
      ['ram:IncludedNote', ['ram:Content', invoice.note]],
    ],
    [
      'rsm:SupplyChainTradeTransaction',
      ...invoice.lines.map((line) => lineOf(line, reasonFor)),
      agreementOf(invoice),
      deliveryOf(invoice),
      settlementOf(invoice),
    ],
  ]);
}

function agreementOf({ seller, buyer, ...invoice }: EInvoice): Xml {
  return [
    'ram:ApplicableHeaderTradeAgreement',
    ['ram:BuyerReference', invoice.buyerReference],
    ['ram:SellerTradeParty', ...partyOf(seller)],
    ['ram:BuyerTradeParty', ...partyOf(buyer)],
    ['ram:BuyerOrderReferencedDocument', ['ram:IssuerAssignedID', invoice.order]],
    ['ram:ContractReferencedDocument', ['ram:IssuerAssignedID', invoice.contract]],
    ...(invoice.attachments ?? []).map(
      ({ id, description, fileName, mediaType, bytes }): Xml => [
        'ram:AdditionalReferencedDocument',
        ['ram:IssuerAssignedID', id],
        ['ram:TypeCode', SUPPORTING_DOCUMENT],
        ['ram:Name', description],
        ['ram:AttachmentBinaryObject', { mimeCode: mediaType, filename: fileName }, bytes.toString('base64')],
      ],
    ),
    invoice.project
      ? ['ram:SpecifiedProcuringProject', ['ram:ID', invoice.project], ['ram:Name', 'Project reference']]
      : undefined,
  ];
}

function deliveryOf({ deliveredOn, deliveryCountry, buyer }: EInvoice): Xml {
  return [
    'ram:ApplicableHeaderTradeDelivery',
    KEEP,
    deliveryCountry
      ? ['ram:ShipToTradeParty', ['ram:Name', buyer.name], addressOf({ ...buyer.address, country: deliveryCountry })]
      : undefined,
    ['ram:ActualDeliverySupplyChainEvent', ['ram:OccurrenceDateTime', deliveredOn ? dayOf(deliveredOn) : undefined]],
  ];
}

function settlementOf(invoice: EInvoice): Xml {
  const { payment, currency, totals, preceding } = invoice;
  return [
    'ram:ApplicableHeaderTradeSettlement',
    ['ram:PaymentReference', payment?.reference],
    ['ram:InvoiceCurrencyCode', currency],
    payment && [
      'ram:SpecifiedTradeSettlementPaymentMeans',
      ['ram:TypeCode', payment.means],
      [
        'ram:PayeePartyCreditorFinancialAccount',
        ['ram:IBANID', payment.iban],
        ['ram:AccountName', payment.iban ? payment.holder : undefined],
      ],
      ['ram:PayeeSpecifiedCreditorFinancialInstitution', ['ram:BICID', payment.bic]],
    ],
    ...invoice.taxes.map(taxOf),
    periodOf(invoice.period),
    ...invoice.adjustments.map((one) => adjustmentOf(one, taxedOf('ram:CategoryTradeTax', one))),
    [
      'ram:SpecifiedTradePaymentTerms',
      ['ram:Description', invoice.paymentTerms],
      ['ram:DueDateDateTime', invoice.dueOn ? dayOf(invoice.dueOn) : undefined],
    ],
    [
      'ram:SpecifiedTradeSettlementHeaderMonetarySummation',
      ['ram:LineTotalAmount', totals.lines],
      ['ram:ChargeTotalAmount', totals.charges],
      ['ram:AllowanceTotalAmount', totals.allowances],
      ['ram:TaxBasisTotalAmount', totals.net],
      ['ram:TaxTotalAmount', { currencyID: currency }, totals.tax],
      ['ram:RoundingAmount', totals.rounding],
      ['ram:GrandTotalAmount', totals.gross],
      ['ram:DuePayableAmount', totals.due],
    ],
    ...preceding.map(
      ({ number, issuedOn }): Xml => [
        'ram:InvoiceReferencedDocument',
        ['ram:IssuerAssignedID', number],
        ['ram:FormattedIssueDateTime', issuedOn ? dayOf(issuedOn, 'qdt') : undefined],
      ],
    ),
  ];
}

function taxOf(tax: ETax): Xml {
  return [
    'ram:ApplicableTradeTax',
    ['ram:CalculatedAmount', tax.tax],
    ['ram:TypeCode', 'VAT'],
    ['ram:ExemptionReason', tax.reason],
    ['ram:BasisAmount', tax.taxable],
    ['ram:CategoryCode', tax.category ?? undefined],
    ['ram:ExemptionReasonCode', tax.code],
    ['ram:RateApplicablePercent', tax.rate],
  ];
}

/** Writes the tax of a line or an adjustment. Outside the scope of tax only the total has a rate (BR-O-05). */
function taxedOf(name: string, taxed: Taxed, reasonFor?: ReasonFor): Xml {
  const { category, rate } = taxed;
  const { reason, code } = reasonFor?.(taxed) ?? {};
  return [
    name,
    ['ram:TypeCode', 'VAT'],
    ['ram:ExemptionReason', reason],
    ['ram:CategoryCode', category ?? undefined],
    ['ram:ExemptionReasonCode', code],
    ['ram:RateApplicablePercent', category === 'O' ? undefined : rate],
  ];
}

function lineOf(line: ELine, reasonFor: ReasonFor): Xml {
  return [
    'ram:IncludedSupplyChainTradeLineItem',
    ['ram:AssociatedDocumentLineDocument', ['ram:LineID', line.id]],
    ['ram:SpecifiedTradeProduct', ['ram:Name', line.name], ['ram:Description', line.description]],
    ['ram:SpecifiedLineTradeAgreement', ['ram:NetPriceProductTradePrice', ['ram:ChargeAmount', line.price]]],
    ['ram:SpecifiedLineTradeDelivery', ['ram:BilledQuantity', { unitCode: line.unit }, line.quantity]],
    [
      'ram:SpecifiedLineTradeSettlement',
      taxedOf('ram:ApplicableTradeTax', line, reasonFor),
      line.adjustment && adjustmentOf(line.adjustment),
      ['ram:SpecifiedTradeSettlementLineMonetarySummation', ['ram:LineTotalAmount', line.net]],
    ],
  ];
}

function adjustmentOf(adjustment: Adjustment, tax?: Xml): Xml {
  return [
    'ram:SpecifiedTradeAllowanceCharge',
    ['ram:ChargeIndicator', ['udt:Indicator', String(adjustment.isCharge)]],
    ['ram:CalculationPercent', adjustment.percent],
    ['ram:BasisAmount', adjustment.base],
    ['ram:ActualAmount', adjustment.amount],
    ['ram:ReasonCode', adjustment.code],
    ['ram:Reason', adjustment.reason],
    tax,
  ];
}

function partyOf(party: Party | Seller): Xml[] {
  const { contact, electronicAddress, vatId, legalId, tradingName, address } = party;
  const { taxNumber, legalNote } = party as Seller;
  return [
    ['ram:ID', party.id],
    ['ram:Name', party.name],
    ['ram:Description', legalNote],
    [
      'ram:SpecifiedLegalOrganization',
      legalId && ['ram:ID', legalId.scheme ? { schemeID: legalId.scheme } : {}, legalId.value],
      ['ram:TradingBusinessName', tradingName],
    ],
    [
      'ram:DefinedTradeContact',
      ['ram:PersonName', contact.name],
      ['ram:TelephoneUniversalCommunication', ['ram:CompleteNumber', contact.phone]],
      ['ram:EmailURIUniversalCommunication', ['ram:URIID', contact.email]],
    ],
    address && addressOf(address),
    electronicAddress && [
      'ram:URIUniversalCommunication',
      ['ram:URIID', { schemeID: electronicAddress.scheme }, electronicAddress.value],
    ],
    registrationOf('VA', vatId),
    registrationOf('FC', taxNumber),
  ];
}

function registrationOf(schemeID: 'VA' | 'FC', id: string | undefined): Xml {
  return id ? ['ram:SpecifiedTaxRegistration', ['ram:ID', { schemeID }, id]] : undefined;
}

function addressOf(address: Address): Xml {
  return [
    'ram:PostalTradeAddress',
    ['ram:PostcodeCode', address.postal_code],
    ['ram:LineOne', address.line1],
    ['ram:LineTwo', address.line2],
    ['ram:LineThree', address.line3],
    ['ram:CityName', address.city],
    ['ram:CountryID', address.country],
    ['ram:CountrySubDivisionName', address.region],
  ];
}

function periodOf(period: Period | undefined): Xml {
  return (
    period && [
      'ram:BillingSpecifiedPeriod',
      ['ram:StartDateTime', dayOf(period.from)],
      ['ram:EndDateTime', dayOf(period.to)],
    ]
  );
}

function dayOf(day: string, space: 'udt' | 'qdt' = 'udt'): Xml {
  return [`${space}:DateTimeString`, { format: '102' }, day.replaceAll('-', '')];
}
