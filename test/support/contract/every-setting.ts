// The settings of an account, as the contract suite sets them for its twin: no answer of the specification depends on one of them.
import type { AccountChanges } from '../../../services/gateway/account/input.ts';

export const EVERY_SETTING: AccountChanges = {
  name: 'Studio North',
  email: 'hello@north.example',
  company: 'North Ltd',
  address: '1 Mill Lane',
  tax_id: 'GB 123',
  legal_name: 'North Design Limited',
  legal_id: { value: '552100554', scheme: '0002' },
  vat_id: 'DE136695976',
  tax_number: '21/815/08150',
  legal_note: 'Directors: Ada North',
  electronic_address: { scheme: 'EM', value: 'bills@north.example' },
  postal_address: { line1: '1 Mill Lane', postal_code: '24103', city: 'Kiel', country: 'DE' },
  phone: '+49 431 1234',
  payment_options: [{ type: 'bank_transfer', iban: 'DE89370400440532013000' }],
  bank_details: 'IBAN DE00',
  logo_url: 'https://north.example/logo.png',
  brand_color: '#0b5fb0',
  allow_backdating: true,
  locale: 'de-DE',
  max_entry_hours: 24,
  settle_tolerance: 1,
  cancel_with_credit_note: true,
  hourly_rate: 90,
  member_rates: [{ member: 'Ada', rate: 120 }],
  apply_to: 'new',
  rounding: { minutes: 15, mode: 'up', scope: 'line', minimum: 30 },
  mail: { from_name: 'North', reply_to: 'reply@north.example', bcc: 'archive@north.example' },
  receipts: true,
  reminders: [
    { days: -3, template: 'reminder_1' },
    { days: 14, template: 'reminder_2' },
  ],
  remind_at: '07:30',
  // The defaults, but set: then every number is looked up before it is given.
  number_formats: {
    credit_note: { prefix: 'CRN-', padding: 4, start: 1, restart: 'never' },
    invoice: { prefix: 'INV-', padding: 4, start: 1, restart: 'never' },
    payment: { prefix: 'PAY-', padding: 4, start: 1, restart: 'never' },
    quote: { prefix: 'QUO-', padding: 4, start: 1, restart: 'never' },
  },
};

/**
 * These exist to change responses: the default tax rate, the lock of time, the note that explains a rate of 0, the rounding of totals, the currency of what names none, the day
 * that the account has, the names of its statuses, the refusal of invoices that lack what the law wants, the days that stand in for a due date, whether a client needs an e-mail address,
 * the
 * format that invoices have to be expressible in, and the discounts for early payment, which invoices show.
 */
export const CHANGES_ANSWERS: readonly (keyof AccountChanges)[] = [
  'default_tax_rate',
  'tax_exemption_note',
  'total_rounding',
  'currency',
  'time_locked_before',
  'time_zone',
  'project_statuses',
  'strict_invoices',
  'payment_days',
  'require_client_email',
  'e_invoice_format',
  'e_invoice_pdf',
  'early_payment_discounts',
];
