// The values of the placeholders, from the document that a mail is about, in its language.
import { dayIn } from '../day.ts';
import type { RecordOfKind } from '../documents/printed-content.ts';
import type { AccountRecord } from '../models/accounts/account.ts';
import type { ClientFields } from '../models/accounts/client.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { liveAmount } from '../models/billing/payment.ts';
import type { MailedKind } from '../models/messages/message.ts';
import { intlLocale } from '../profile-forms.ts';
import type { NumberKind } from '../rules/documents/number-kinds.ts';
import { dueOf, totalOf } from '../rules/money/balance.ts';
import { writtenMoney } from '../rules/money/written-money.ts';
import type { MailedRecords, MailedStatement } from './mailed-records.ts';
import type { MailValues } from './placeholders.ts';
import { mailLanguage } from './standard-texts.ts';

interface MailParties {
  account: Pick<AccountRecord, 'name' | 'company' | 'time_zone'>;
  client: Pick<ClientFields, 'name'>;
  /** The locale of the mail. */
  locale: string;
}

/** Returns the values for a mail about this document as it is now. */
export function mailValues<Kind extends MailedKind>(
  kind: Kind,
  record: MailedRecords[Kind],
  parties: MailParties,
): MailValues {
  if (kind === 'statement') return statementValues(record as MailedStatement, parties);
  return documentValues(kind as NumberKind, record as RecordOfKind[NumberKind], parties);
}

function statementValues(
  { period, balances = [] }: MailedStatement,
  { account, client, locale }: MailParties,
): MailValues {
  const written = balances.map(({ currency, closing }) => writtenMoney(closing, currency, locale));
  return {
    client_name: client.name,
    sender: senderOf(account),
    from: writtenDay(period.from, locale),
    to: writtenDay(period.to, locale),
    balance: written.join(', '),
  };
}

function documentValues<Kind extends NumberKind>(
  kind: Kind,
  record: RecordOfKind[Kind],
  { account, client, locale }: MailParties,
): MailValues {
  const parties = record.parties;
  return {
    number: printedNumber(kind, record),
    client_name: parties?.client.name ?? client.name,
    sender: senderOf(account),
    ...OWN_VALUES[kind](record, {
      money: (minor) => writtenMoney(minor, record.currency, locale),
      day: (day) => writtenDay(day, locale),
      today: dayIn(account.time_zone, record.created_at),
    }),
  };
}

/** Returns the name that mail comes from. */
export function senderOf({ company, name }: Pick<AccountRecord, 'name' | 'company'>): string {
  return company || name;
}

interface Writing {
  money: (minor: number) => string;
  /** @param day `YYYY-MM-DD`. */
  day: (day: string) => string;
  /** The day on which the document was made. */
  today: string;
}

const OWN_VALUES: {
  readonly [Kind in NumberKind]: (record: RecordOfKind[Kind], writing: Writing) => MailValues;
} = {
  invoice: (invoice, { money, day, today }) => ({
    date: day(invoice.issue_date ?? today),
    total: money(totalOf(invoice)),
    amount_due: money(dueOf(invoice)),
    due_date: day(invoice.due_date),
  }),
  quote: (quote, { money, day, today }) => ({
    date: day(quote.issue_date ?? today),
    total: money(totalOf(quote)),
    valid_until: day(quote.expires_at),
  }),
  credit_note: (note, { money, day }) => ({
    date: day(note.issued_on),
    total: money(totalOf(note)),
    invoice_number: note.invoice_number,
  }),
  payment: (payment, { money, day }) => ({
    date: day(payment.date),
    total: money(payment.amount),
    invoice_number: payment.allocations
      .filter((part) => liveAmount(part) > 0)
      .map(({ invoice_number }) => invoice_number)
      .join(', '),
  }),
};

/** Writes a day in words, as documents do. English is for languages that have no words here. */
export function writtenDay(day: string, locale: string): string {
  return dayFormat(locale).format(new Date(`${day}T00:00:00Z`));
}

/** Returns the format of writtenDay, for many days. It takes the start of a day in UTC. */
export function dayFormat(locale: string): Intl.DateTimeFormat {
  const format = mailLanguage(locale) === 'en' && !/^en\b/i.test(locale) ? 'en-001' : intlLocale(locale);
  return new Intl.DateTimeFormat(format, { dateStyle: 'long', timeZone: 'UTC', calendar: 'gregory' });
}
