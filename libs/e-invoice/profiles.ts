// The part of an invoice that a profile of Factur-X has room for (Factur-X 1.09, chapter 7). The writer of CII knows no profiles.
import type { Profile } from './formats.ts';
import type { EInvoice, ELine, Party } from './terms.ts';

/** Returns the invoice as the profile can say it. Unless given, it is the norm, which says all of it. */
export function withinProfile(invoice: EInvoice, profile: Profile | undefined): EInvoice {
  if (profile === 'minimum') return minimum(invoice);
  if (profile === 'basicwl') return { ...basic(invoice), lines: [] };
  if (profile === 'basic') return basic(invoice);
  return invoice;
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
