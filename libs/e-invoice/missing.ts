// Lists the fields that a format asks for and the document does not have, by the names that callers can set.
import Big from 'big.js';
import { type Problem, problemOf } from '../errors.ts';
import { type FormatName, formatOf } from './formats.ts';
import { ThreeDecimals } from './money-of-document.ts';
import type { EInvoice, ETax, Party } from './terms.ts';

/** Returns what keeps a document from being expressed in the format. @param state returns its terms, or throws ThreeDecimals. */
export function problemsOf(state: () => EInvoice, name: FormatName): Problem[] {
  try {
    return missingIn(state(), name);
  } catch (error) {
    if (error instanceof ThreeDecimals) return [problemOf('currency', 'e_invoice_three_decimals')];
    throw error;
  }
}

/** Returns every problem at once; none when the document is valid by the rules of the format. */
export function missingIn(invoice: EInvoice, name: FormatName): Problem[] {
  const problems: Problem[] = [];
  const { seller, buyer, taxes, payment } = invoice;
  const isPeppol = name === 'peppol-ubl';
  const { profile, rules } = formatOf(name);
  const isXrechnung = rules === 'XRechnung';
  const isGermanPeppol = isPeppol && [seller, buyer].every(({ address }) => address?.country === 'DE');
  const parties = Object.entries({ account: seller, client: buyer });
  const has = (...categories: string[]) => taxes.some(({ category }) => categories.includes(String(category)));

  need(seller.name, 'account.company', 'BT-27');
  need(buyer.name, 'client.company_name', 'BT-44');
  need(seller.address?.country, 'account.postal_address.country', 'BT-40');
  // The smallest profile has no other identifier, and no field that the rules below ask for.
  const isMinimum = profile === 'minimum';
  need(
    seller.vatId ?? seller.legalId ?? (isMinimum ? undefined : seller.id),
    'account.vat_id',
    'BR-CO-26',
    'account.legal_id',
  );
  if (isMinimum) return problems;
  need(buyer.address?.country, 'client.postal_address.country', 'BT-55');
  if (has('S', 'Z', 'E', 'AE')) {
    need(seller.vatId ?? seller.taxNumber, 'account.vat_id', 'BT-31, BT-32', 'account.tax_number');
  }
  // Both rules are about lines.
  const hasLines = profile !== 'basicwl';
  if (has('K') || (hasLines && has('G'))) need(seller.vatId, 'account.vat_id', 'BT-31');
  if (hasLines && has('AE')) need(buyer.vatId ?? buyer.legalId, 'client.vat_id', 'BT-48, BT-47', 'client.legal_id');
  if (has('K')) need(buyer.vatId, 'client.vat_id', 'BT-48');
  if (has('O')) {
    if (taxes.length > 1) add(problemOf('line_items', 'e_invoice_category_not_alone', { rule: 'BR-O-11' }));
    for (const [who, { vatId }] of parties) {
      if (vatId) add(problemOf(`${who}.vat_id`, 'e_invoice_vat_id_out_of_scope', { rule: 'BR-O-02' }));
    }
  }
  for (const [index, { category }] of invoice.lines.entries()) {
    if (category === null) needCategory(`line_items[${index}].tax_category`, 'BT-151');
  }
  for (const { category, isCharge } of invoice.adjustments) {
    if (category === null && isCharge) needCategory('invoice.shipping_tax_category', 'BT-102');
  }
  if (invoice.totals.rounding && (profile === 'basic' || profile === 'basicwl')) {
    add(problemOf('account.total_rounding', 'e_invoice_rounding_unknown', { rules }));
  }
  const { currency } = invoice;
  if (profile === 'extended' && taxes.some((tax) => isRoundedToUnits(tax, invoice))) {
    add(problemOf('currency', 'e_invoice_tax_in_units', { currency, rules, rule: 'BR-FXEXT-S-09' }));
  }
  for (const tax of taxes) {
    if (differenceOf(tax).lt(TAX_TOLERANCE)) continue;
    add(problemOf('tax_amount', 'e_invoice_tax_differs', { rate: Number(tax.rate), currency, rule: 'BR-S-09' }));
  }
  if (isXrechnung || isGermanPeppol) {
    need(payment, 'account.payment_options', 'BG-16, BR-DE-1');
    need(seller.contact.name, 'account.name', 'BT-41, BR-DE-5');
    need(seller.contact.phone, 'account.phone', 'BT-42, BR-DE-6');
    need(seller.contact.email, 'account.email', 'BT-43, BR-DE-7');
    need(invoice.buyerReference, 'invoice.buyer_reference', 'BT-10, BR-DE-15', 'client.buyer_reference');
    needPlace(seller, 'account', 'BT-37, BR-DE-3', 'BT-38, BR-DE-4');
    needPlace(buyer, 'client', 'BT-52, BR-DE-8', 'BT-53, BR-DE-9');
  }
  if (isXrechnung || isPeppol) {
    need(seller.electronicAddress, 'account.electronic_address', 'BT-34, PEPPOL-EN16931-R020');
    need(buyer.electronicAddress, 'client.electronic_address', 'BT-49, PEPPOL-EN16931-R010');
  }
  if (isPeppol) {
    for (const [who, { electronicAddress }] of parties) {
      // Peppol registers no e-mail addresses, and Billhook cannot know whether a VAT id is registered.
      const scheme = electronicAddress?.scheme;
      if (scheme !== undefined && UNKNOWN_TO_PEPPOL.has(scheme)) {
        add(problemOf(`${who}.electronic_address`, 'e_invoice_scheme_unknown', { scheme, rule: 'CL008' }));
      }
    }
    // The reference is asked for above where both parties are German.
    if (!isGermanPeppol) {
      const reference = invoice.buyerReference ?? invoice.order;
      need(reference, 'invoice.buyer_reference', 'PEPPOL-EN16931-R003', 'invoice.order_reference');
    }
  }
  return problems;

  function add(problem: Problem) {
    problems.push(problem);
  }
  function need(value: unknown, field: string, rule: string, other?: string) {
    if (value) return;
    add(
      other === undefined
        ? problemOf(field, 'e_invoice_field_missing', { rule })
        : problemOf(field, 'e_invoice_field_missing_or', { rule, other }),
    );
  }
  function needCategory(field: string, rule: string) {
    add(problemOf(field, 'e_invoice_category_missing', { rule }));
  }
  function needPlace({ address }: Party, who: string, cityRule: string, codeRule: string) {
    need(address?.city, `${who}.postal_address.city`, cityRule);
    need(address?.postal_code, `${who}.postal_address.postal_code`, codeRule);
  }
}

/**
 * True for a tax that was rounded to more than cents, as that of yen is, where the rule of the extended profile does not
 * forgive it: a cent for each line, allowance and charge of the rate.
 */
function isRoundedToUnits(tax: ETax, { lines, adjustments }: EInvoice): boolean {
  if (tax.category !== 'S') return false;
  const parts = [...lines, ...adjustments].filter((one) => one.category === tax.category && one.rate === tax.rate);
  return differenceOf(tax).gt(new Big(parts.length).times('0.01'));
}

/**
 * The difference that no tax may have to the rate of its taxable amount, in major units. The last of many credit notes
 * in yen takes what rounding left, and may have it.
 */
const TAX_TOLERANCE = 1;

/** Returns how far a tax is from the rate of its taxable amount. */
function differenceOf({ taxable, tax, rate }: ETax): Big {
  return new Big(taxable).times(rate).div(100).round(2, Big.roundHalfUp).minus(tax).abs();
}

/** The schemes of the EAS list that are no addresses in Peppol: e-mail and the providers' own. */
const UNKNOWN_TO_PEPPOL: ReadonlySet<string> = new Set(['EM', 'AN', 'AQ', 'AS', 'AU']);
