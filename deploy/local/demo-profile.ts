// The example issuer of the demo account, so that its first documents are whole ones.

/** A star over the horizon. It is small, because the banner prints it as part of a command. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96"><path fill="#fff" d="M48 4l9 31 31 9-31 9-9 31-9-31-31-9 31-9z"/></svg>';

/** An IBAN that banks publish as an example. It is no account of a real bank customer. */
const IBAN = 'DE89370400440532013000';

export const LOGO_URL = `data:image/svg+xml;base64,${Buffer.from(LOGO).toString('base64')}`;
export const BRAND_COLOR = '#1f4d5c';

/** The profile in the form in which an account keeps it. */
export const DEMO_PROFILE = {
  email: 'hello@north.example',
  company: 'Studio North',
  postal_address: { line1: 'Musterstraße 1', postal_code: '10115', city: 'Berlin', country: 'DE' },
  phone: '+49 30 5550100',
  tax_number: '12/345/67890',
  payment_options: [{ type: 'bank_transfer', holder: 'Studio North', iban: IBAN, bic: 'COBADEFFXXX' }],
  logo_url: LOGO_URL,
  brand_color: BRAND_COLOR,
} as const;
