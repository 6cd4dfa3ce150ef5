// The part of an invoice that CII and the profiles of Factur-X have room for (Factur-X 1.09, chapter 7). The writer of CII knows no profiles.
import { type FormatName, formatOf } from './formats.ts';
import type { EInvoice, ELine, Party } from './terms.ts';

/** Returns the invoice as the format can say it. UBL and the extended profile say all of it. */
export function withinFormat(invoice: EInvoice, format: FormatName): EInvoice {
  const { syntax, profile } = formatOf(format);
  if (syntax === 'ubl' || profile === 'extended') return invoice;
  if (profile === 'minimum') return minimum(invoice);
  if (profile === 'basicwl') return { ...basic(invoice), lines: [] };
  return onePreceding(profile === 'basic' ? basic(invoice) : invoice);
}

/** Returns the invoice with its first reference only: the norm allows many, the schemas of CII D16B one. */
function onePreceding(invoice: EInvoice): EInvoice {
  return { ...invoice, preceding: invoice.preceding.slice(0, 1) };
}

/** Returns the document with its parties and sums alone. */
function minimum(invoice: EInvoice): EInvoice {
  const { number, issuedOn, type, currency, buyerReference, order, seller, buyer, totals } = invoice;
  const { net, tax, gross, due } = totals;
  return {
    number,
    issuedOn,
    type,
    currency,
    buyerReference,
    order,
    seller: {
      name: seller.name,
      legalId: seller.legalId,
      vatId: seller.vatId,
      taxNumber: seller.taxNumber,
      address: seller.address && { country: seller.address.country },
      contact: {},
    },
    buyer: { name: buyer.name, legalId: buyer.legalId, contact: {} },
    preceding: [],
    adjustments: [],
    lines: [],
    taxes: [],
    totals: { net, tax, gross, due },
  };
}

function basic(invoice: EInvoice): EInvoice {
  const { project: _project, attachments: _attachments, seller, payment, totals, ...kept } = invoice;
  const { legalNote: _note, ...named } = withoutContact(seller);
  return {
    ...kept,
    seller: named,
    buyer: withoutContact(invoice.buyer),
    payment: payment && { means: payment.means, reference: payment.reference, iban: payment.iban },
    lines: invoice.lines.map(basicLine),
    totals: { ...totals, rounding: undefined },
  };
}

function withoutContact<Kind extends Party>(party: Kind): Kind {
  return { ...party, contact: {} };
}

function basicLine({ description: _description, adjustment, ...line }: ELine): ELine {
  const { base: _base, percent: _percent, ...plain } = adjustment ?? {};
  return adjustment ? { ...line, adjustment: plain as NonNullable<ELine['adjustment']> } : line;
}
