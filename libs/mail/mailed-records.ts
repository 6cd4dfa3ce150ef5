// The records that mails are about: documents, and the statement of account of a client.
import type { CurrencyStatement, StatementPeriod } from '../billing/payments/statement.ts';
import type { RecordOfKind } from '../documents/printed-content.ts';
import type { StoredId } from '../models/tenant.ts';

/** A statement of account. It is computed from what is booked whenever it is read. */
export interface MailedStatement {
  /** The id of the client. */
  _id: StoredId;
  client_id: StoredId;
  period: StatementPeriod;
  /** The last balance of each currency. Absent where it was not computed: the subject names none until the mail is made. */
  balances?: readonly Pick<CurrencyStatement, 'currency' | 'closing'>[] | undefined;
}

/** The record of each kind. */
export interface MailedRecords extends RecordOfKind {
  statement: MailedStatement;
}
