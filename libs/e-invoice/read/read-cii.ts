// Reads a Cross Industry Invoice of UN/CEFACT, as XRechnung and Factur-X have it.
import type { XmlElement } from './parse-xml.ts';
import { all, at, bytesOfBase64, identifiedBy, inCurrency, textAt, textsOf } from './read-element.ts';
import type {
  ReceivedAdjustment,
  ReceivedAttachment,
  ReceivedInvoice,
  ReceivedLine,
  ReceivedParty,
  ReceivedTax,
} from './received-invoice.ts';

export function readCii(root: XmlElement): ReceivedInvoice {
  const context = at(root, 'ExchangedDocumentContext');
  const document = at(root, 'ExchangedDocument');
  const trade = at(root, 'SupplyChainTradeTransaction');
  const agreement = at(trade, 'ApplicableHeaderTradeAgreement');
  const delivery = at(trade, 'ApplicableHeaderTradeDelivery');
  const settlement = at(trade, 'ApplicableHeaderTradeSettlement');
  const terms = at(settlement, 'SpecifiedTradePaymentTerms');
  const sums = at(settlement, 'SpecifiedTradeSettlementHeaderMonetarySummation');
  const period = at(settlement, 'BillingSpecifiedPeriod');
  const reference = textAt(settlement, 'PaymentReference');
  const currency = textAt(settlement, 'InvoiceCurrencyCode');
  return {
    specification: textAt(context, 'GuidelineSpecifiedDocumentContextParameter', 'ID'),
    process: textAt(context, 'BusinessProcessSpecifiedDocumentContextParameter', 'ID'),
    number: textAt(document, 'ID'),
    issue_date: dayAt(document, 'IssueDateTime'),
    type_code: textAt(document, 'TypeCode'),
    currency_code: currency,
    due_date: dayAt(terms, 'DueDateDateTime'),
    buyer_reference: textAt(agreement, 'BuyerReference'),
    project_reference: textAt(agreement, 'SpecifiedProcuringProject', 'ID'),
    contract_reference: textAt(agreement, 'ContractReferencedDocument', 'IssuerAssignedID'),
    order_reference: textAt(agreement, 'BuyerOrderReferencedDocument', 'IssuerAssignedID'),
    payment_terms: textAt(terms, 'Description'),
    notes: textsOf(all(document, 'IncludedNote').flatMap((note) => all(note, 'Content'))),
    preceding: all(settlement, 'InvoiceReferencedDocument').map((one) => ({
      number: textAt(one, 'IssuerAssignedID'),
      issue_date: dayAt(one, 'FormattedIssueDateTime'),
    })),
    seller: partyOf(at(agreement, 'SellerTradeParty')),
    buyer: partyOf(at(agreement, 'BuyerTradeParty')),
    service_date: dayAt(delivery, 'ActualDeliverySupplyChainEvent', 'OccurrenceDateTime'),
    delivery_country: textAt(delivery, 'ShipToTradeParty', 'PostalTradeAddress', 'CountryID'),
    service_period: period ? { from: dayAt(period, 'StartDateTime'), to: dayAt(period, 'EndDateTime') } : null,
    payments: all(settlement, 'SpecifiedTradeSettlementPaymentMeans').map((one) => ({
      means: textAt(one, 'TypeCode'),
      reference,
      iban: textAt(one, 'PayeePartyCreditorFinancialAccount', 'IBANID'),
      holder: textAt(one, 'PayeePartyCreditorFinancialAccount', 'AccountName'),
      bic: textAt(one, 'PayeeSpecifiedCreditorFinancialInstitution', 'BICID'),
    })),
    adjustments: all(settlement, 'SpecifiedTradeAllowanceCharge').map(adjustmentOf),
    lines: all(trade, 'IncludedSupplyChainTradeLineItem').map(lineOf),
    taxes: all(settlement, 'ApplicableTradeTax').map(taxOf),
    totals: {
      lines: textAt(sums, 'LineTotalAmount'),
      allowances: textAt(sums, 'AllowanceTotalAmount'),
      charges: textAt(sums, 'ChargeTotalAmount'),
      net: textAt(sums, 'TaxBasisTotalAmount'),
      tax: textAt(inCurrency(all(sums, 'TaxTotalAmount'), currency)),
      gross: textAt(sums, 'GrandTotalAmount'),
      paid: textAt(sums, 'TotalPrepaidAmount'),
      rounding: textAt(sums, 'RoundingAmount'),
      due: textAt(sums, 'DuePayableAmount'),
    },
    attachments: all(agreement, 'AdditionalReferencedDocument').map(attachmentOf),
  };
}

function partyOf(party: XmlElement | undefined): ReceivedParty {
  const organization = at(party, 'SpecifiedLegalOrganization');
  const contact = at(party, 'DefinedTradeContact');
  const registered = (scheme: string) =>
    textAt(
      all(party, 'SpecifiedTaxRegistration')
        .map((one) => at(one, 'ID'))
        .find((id) => id?.attributes['schemeID'] === scheme),
    );
  return {
    name: textAt(party, 'Name'),
    trading_name: textAt(organization, 'TradingBusinessName'),
    id: textAt(party, 'ID') ?? textAt(party, 'GlobalID'),
    legal_id: identifiedBy(at(organization, 'ID')),
    vat_id: registered('VA'),
    tax_number: registered('FC'),
    legal_note: textAt(party, 'Description'),
    electronic_address: identifiedBy(at(party, 'URIUniversalCommunication', 'URIID')),
    address: addressOf(at(party, 'PostalTradeAddress')),
    contact: {
      name: textAt(contact, 'PersonName') ?? textAt(contact, 'DepartmentName'),
      phone: textAt(contact, 'TelephoneUniversalCommunication', 'CompleteNumber'),
      email: textAt(contact, 'EmailURIUniversalCommunication', 'URIID'),
    },
  };
}

function addressOf(address: XmlElement | undefined): ReceivedParty['address'] {
  if (!address) return null;
  return {
    line1: textAt(address, 'LineOne'),
    line2: textAt(address, 'LineTwo'),
    line3: textAt(address, 'LineThree'),
    postal_code: textAt(address, 'PostcodeCode'),
    city: textAt(address, 'CityName'),
    region: textAt(address, 'CountrySubDivisionName'),
    country: textAt(address, 'CountryID'),
  };
}

function lineOf(line: XmlElement): ReceivedLine {
  const price = at(line, 'SpecifiedLineTradeAgreement', 'NetPriceProductTradePrice');
  const quantity = at(line, 'SpecifiedLineTradeDelivery', 'BilledQuantity');
  const settlement = at(line, 'SpecifiedLineTradeSettlement');
  return {
    id: textAt(line, 'AssociatedDocumentLineDocument', 'LineID'),
    name: textAt(line, 'SpecifiedTradeProduct', 'Name'),
    description: textAt(line, 'SpecifiedTradeProduct', 'Description'),
    quantity: textAt(quantity),
    unit: quantity?.attributes['unitCode'] ?? null,
    price: textAt(price, 'ChargeAmount'),
    price_quantity: textAt(price, 'BasisQuantity'),
    net: textAt(settlement, 'SpecifiedTradeSettlementLineMonetarySummation', 'LineTotalAmount'),
    adjustments: all(settlement, 'SpecifiedTradeAllowanceCharge').map(adjustmentOf),
    ...taxedBy(at(settlement, 'ApplicableTradeTax')),
  };
}

function adjustmentOf(one: XmlElement): ReceivedAdjustment {
  return {
    is_charge: textAt(one, 'ChargeIndicator', 'Indicator') === 'true',
    amount: textAt(one, 'ActualAmount'),
    base: textAt(one, 'BasisAmount'),
    percent: textAt(one, 'CalculationPercent'),
    reason: textAt(one, 'Reason'),
    code: textAt(one, 'ReasonCode'),
    ...taxedBy(at(one, 'CategoryTradeTax')),
  };
}

function taxOf(one: XmlElement): ReceivedTax {
  return {
    taxable: textAt(one, 'BasisAmount'),
    tax: textAt(one, 'CalculatedAmount'),
    reason: textAt(one, 'ExemptionReason'),
    code: textAt(one, 'ExemptionReasonCode'),
    ...taxedBy(one),
  };
}

function taxedBy(tax: XmlElement | undefined) {
  return { category: textAt(tax, 'CategoryCode'), rate: textAt(tax, 'RateApplicablePercent') };
}

function attachmentOf(one: XmlElement): ReceivedAttachment {
  const file = at(one, 'AttachmentBinaryObject');
  return {
    id: textAt(one, 'IssuerAssignedID'),
    description: textAt(one, 'Name'),
    file_name: file?.attributes['filename'] ?? null,
    media_type: file?.attributes['mimeCode'] ?? null,
    size_bytes: file ? bytesOfBase64(file) : null,
    url: textAt(one, 'URIID'),
  };
}

const DAY = /^(\d{4})-?(\d{2})-?(\d{2})/;

/** Returns the day in an element with a DateTimeString or a DateString, which is `20261128` in format 102. Another form stays as it is. */
function dayAt(from: XmlElement | undefined, ...path: string[]): string | null {
  const text = textAt(at(from, ...path)?.children[0]) ?? textAt(from, ...path);
  return text?.replace(DAY, '$1-$2-$3') ?? null;
}
