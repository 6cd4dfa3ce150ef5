// Links to a page that takes the payment: the account's own templates, and UPI.

/** The values that stand for names in braces. */
export const LINK_NAMES = ['number', 'amount', 'currency', 'reference'] as const;

export type LinkValues = Record<(typeof LINK_NAMES)[number], string>;

const PLACEHOLDER = /\{([^{}]*)\}/g;
/** Characters of the reference of a transaction. */
const UPI_REFERENCE_LONGEST = 35;

/** Fills a template. Every value is percent-encoded. */
export function paymentLink(template: string, values: LinkValues): string {
  return template.replaceAll(PLACEHOLDER, (_all, name: keyof LinkValues) => encodeURIComponent(values[name]));
}

/** Returns the names in braces that a template must not have. */
export function unknownNames(template: string): string[] {
  const names = [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  return names.filter((name) => !(LINK_NAMES as readonly string[]).includes(name));
}

const FILLED: readonly LinkValues[] = [
  { number: 'a', amount: '1', currency: 'EUR', reference: 'b' },
  { number: 'c', amount: '2', currency: 'CHF', reference: 'd' },
];

/** True when every filled template is an https URL of one and the same host, without a user. */
export function isLinkTemplate(template: string): boolean {
  const [one, other] = FILLED.map((values) => URL.parse(paymentLink(template, values)));
  if (one?.protocol !== 'https:' || one.origin !== other?.origin) return false;
  return one.username === '' && one.password === '';
}

/** Returns the link of UPI. An app takes it from a tap and from a code. @param amount in rupees. */
export function upiLink({ vpa, name, amount, number }: Record<'vpa' | 'name' | 'amount' | 'number', string>): string {
  const fields = {
    pa: vpa,
    pn: name,
    am: amount,
    cu: 'INR',
    // The digits that differ from one number to the next are its last ones.
    tr: number.slice(-UPI_REFERENCE_LONGEST),
  };
  // Some apps read the address as it is, and @ needs no encoding in a query.
  const query = Object.entries(fields).map(([key, value]) => `${key}=${encodeURIComponent(value).replace('%40', '@')}`);
  return `upi://pay?${query.join('&')}`;
}
