// Reads an Invoice or a CreditNote of UBL 2.1.
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

/** The code of a document reference that is the project of a credit note. */
const PROJECT = '50';

export function readUbl(root: XmlElement): ReceivedInvoice {
  const isCredit = root.name === 'CreditNote';
  const documents = all(root, 'AdditionalDocumentReference');
  const isProject = (one: XmlElement) => textAt(one, 'DocumentTypeCode') === PROJECT;
  const currency = textAt(root, 'DocumentCurrencyCode');
  const total = inCurrency(all(root, 'TaxTotal'), currency, (one) => at(one, 'TaxAmount'));
  const period = at(root, 'InvoicePeriod');
  const amount = (name: string) => textAt(root, 'LegalMonetaryTotal', name);
  return {
    specification: textAt(root, 'CustomizationID'),
    process: textAt(root, 'ProfileID'),
    number: textAt(root, 'ID'),
    issue_date: textAt(root, 'IssueDate'),
    type_code: textAt(root, `${root.name}TypeCode`),
    currency_code: currency,
    due_date: textAt(root, 'DueDate') ?? textAt(root, 'PaymentMeans', 'PaymentDueDate'),
    buyer_reference: textAt(root, 'BuyerReference'),
    project_reference: textAt(root, 'ProjectReference', 'ID') ?? textAt(documents.find(isProject), 'ID'),
    contract_reference: textAt(root, 'ContractDocumentReference', 'ID'),
    order_reference: textAt(root, 'OrderReference', 'ID'),
    payment_terms: textAt(root, 'PaymentTerms', 'Note'),
    notes: textsOf(all(root, 'Note')),
    preceding: all(root, 'BillingReference').map((one) => ({
      number: textAt(one, 'InvoiceDocumentReference', 'ID'),
      issue_date: textAt(one, 'InvoiceDocumentReference', 'IssueDate'),
    })),
    seller: partyOf(at(root, 'AccountingSupplierParty', 'Party')),
    buyer: partyOf(at(root, 'AccountingCustomerParty', 'Party')),
    service_date: textAt(root, 'Delivery', 'ActualDeliveryDate'),
    delivery_country: textAt(root, 'Delivery', 'DeliveryLocation', 'Address', 'Country', 'IdentificationCode'),
    service_period: period ? { from: textAt(period, 'StartDate'), to: textAt(period, 'EndDate') } : null,
    payments: all(root, 'PaymentMeans').map((one) => {
      const account = at(one, 'PayeeFinancialAccount');
      return {
        means: textAt(one, 'PaymentMeansCode'),
        reference: textAt(one, 'PaymentID'),
        iban: textAt(account, 'ID'),
        holder: textAt(account, 'Name'),
        bic: textAt(account, 'FinancialInstitutionBranch', 'ID'),
      };
    }),
    adjustments: all(root, 'AllowanceCharge').map(adjustmentOf),
    lines: all(root, isCredit ? 'CreditNoteLine' : 'InvoiceLine').map((line) => lineOf(line, isCredit)),
    taxes: all(total, 'TaxSubtotal').map(taxOf),
    totals: {
      lines: amount('LineExtensionAmount'),
      allowances: amount('AllowanceTotalAmount'),
      charges: amount('ChargeTotalAmount'),
      net: amount('TaxExclusiveAmount'),
      tax: textAt(total, 'TaxAmount'),
      gross: amount('TaxInclusiveAmount'),
      paid: amount('PrepaidAmount'),
      rounding: amount('PayableRoundingAmount'),
      due: amount('PayableAmount'),
    },
    attachments: documents.filter((one) => !isProject(one)).map(attachmentOf),
  };
}

function partyOf(party: XmlElement | undefined): ReceivedParty {
  const taxNumbers = all(party, 'PartyTaxScheme');
  const numberOf = (isVat: boolean) =>
    textAt(
      taxNumbers.find((one) => (textAt(one, 'TaxScheme', 'ID') === 'VAT') === isVat),
      'CompanyID',
    );
  const legal = at(party, 'PartyLegalEntity');
  return {
    name: textAt(legal, 'RegistrationName') ?? textAt(party, 'PartyName', 'Name'),
    trading_name: textAt(party, 'PartyName', 'Name'),
    id: textAt(party, 'PartyIdentification', 'ID'),
    legal_id: identifiedBy(at(legal, 'CompanyID')),
    vat_id: numberOf(true),
    tax_number: numberOf(false),
    legal_note: textAt(legal, 'CompanyLegalForm'),
    electronic_address: identifiedBy(at(party, 'EndpointID')),
    address: addressOf(at(party, 'PostalAddress')),
    contact: {
      name: textAt(party, 'Contact', 'Name'),
      phone: textAt(party, 'Contact', 'Telephone'),
      email: textAt(party, 'Contact', 'ElectronicMail'),
    },
  };
}

function addressOf(address: XmlElement | undefined): ReceivedParty['address'] {
  if (!address) return null;
  return {
    line1: textAt(address, 'StreetName'),
    line2: textAt(address, 'AdditionalStreetName'),
    line3: textAt(address, 'AddressLine', 'Line'),
    postal_code: textAt(address, 'PostalZone'),
    city: textAt(address, 'CityName'),
    region: textAt(address, 'CountrySubentity'),
    country: textAt(address, 'Country', 'IdentificationCode'),
  };
}

function lineOf(line: XmlElement, isCredit: boolean): ReceivedLine {
  const quantity = at(line, isCredit ? 'CreditedQuantity' : 'InvoicedQuantity');
  return {
    id: textAt(line, 'ID'),
    name: textAt(line, 'Item', 'Name'),
    description: textAt(line, 'Item', 'Description'),
    quantity: textAt(quantity),
    unit: quantity?.attributes['unitCode'] ?? null,
    price: textAt(line, 'Price', 'PriceAmount'),
    price_quantity: textAt(line, 'Price', 'BaseQuantity'),
    net: textAt(line, 'LineExtensionAmount'),
    adjustments: all(line, 'AllowanceCharge').map(adjustmentOf),
    ...taxedBy(at(line, 'Item', 'ClassifiedTaxCategory')),
  };
}

function adjustmentOf(one: XmlElement): ReceivedAdjustment {
  return {
    is_charge: textAt(one, 'ChargeIndicator') === 'true',
    amount: textAt(one, 'Amount'),
    base: textAt(one, 'BaseAmount'),
    percent: textAt(one, 'MultiplierFactorNumeric'),
    reason: textAt(one, 'AllowanceChargeReason'),
    code: textAt(one, 'AllowanceChargeReasonCode'),
    ...taxedBy(at(one, 'TaxCategory')),
  };
}

function taxOf(one: XmlElement): ReceivedTax {
  const category = at(one, 'TaxCategory');
  return {
    taxable: textAt(one, 'TaxableAmount'),
    tax: textAt(one, 'TaxAmount'),
    reason: textAt(category, 'TaxExemptionReason'),
    code: textAt(category, 'TaxExemptionReasonCode'),
    ...taxedBy(category),
  };
}

function taxedBy(category: XmlElement | undefined) {
  return { category: textAt(category, 'ID'), rate: textAt(category, 'Percent') };
}

function attachmentOf(one: XmlElement): ReceivedAttachment {
  const file = at(one, 'Attachment', 'EmbeddedDocumentBinaryObject');
  return {
    id: textAt(one, 'ID'),
    description: textAt(one, 'DocumentDescription'),
    file_name: file?.attributes['filename'] ?? null,
    media_type: file?.attributes['mimeCode'] ?? null,
    size_bytes: file ? bytesOfBase64(file) : null,
    url: textAt(one, 'Attachment', 'ExternalReference', 'URI'),
  };
}
