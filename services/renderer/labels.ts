// The words a document brings of its own.

export interface Labels {
  from: string;
  to: string;
  number: string;
  date: string;
  /** What the second date means. */
  until: string;
  poNumber: string;
  description: string;
  qty: string;
  rate: string;
  amount: string;
  subtotal: string;
  discount: string;
  tax: (rate: string) => string;
  shipping: string;
  total: string;
  notes: string;
  terms: string;
  acceptedBy: string;
  signature: string;
  name: string;
  signedOn: string;
  paymentDue: (days: number) => string;
}

export function labelsOf(isQuote: boolean): Labels {
  return {
    from: 'From',
    to: isQuote ? 'Prepared for' : 'Bill to',
    number: isQuote ? 'Quote number' : 'Invoice number',
    date: isQuote ? 'Quote date' : 'Issue date',
    until: isQuote ? 'Valid until' : 'Due date',
    poNumber: 'PO number',
    description: 'Description',
    qty: 'Qty',
    rate: 'Rate',
    amount: 'Amount',
    subtotal: 'Subtotal',
    discount: 'Discount',
    tax: (rate) => `Tax (${rate}%)`,
    shipping: 'Shipping',
    total: 'Total',
    notes: 'Notes',
    terms: 'Terms and conditions',
    acceptedBy: 'Accepted by',
    signature: 'Signature',
    name: 'Name',
    signedOn: 'Date',
    paymentDue: (days) =>
      days === 0
        ? 'Payment is due on signing.'
        : `Payment is due within ${days} ${days === 1 ? 'day' : 'days'} of signing.`,
  };
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** `2026-03-05` → `5 March 2026`: made from the text, so no time zone can move it. Months in words: 03/05 is two dates. */
export function printedDay(day: string): string {
  const [year, month, dayOfMonth] = day.split('-');
  return `${Number(dayOfMonth)} ${MONTHS[Number(month) - 1]} ${Number(year)}`;
}
