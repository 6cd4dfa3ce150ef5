// What issuing an invoice or a quote adds to it: its date, and issuer and client as they are at that moment.

import { sequenceOf } from '#libs/billing/number-format.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { Client } from '#libs/models/accounts/client.ts';
import type { NumberKind } from '#libs/models/billing/number-ledger.ts';
import { type Parties, partiesOf } from '#libs/models/billing/parties.ts';
import { findOwn } from '#libs/models/records.ts';
import type { Id, StoredId } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { issueDateOf } from './dates-input.ts';
import type { DetailsForm } from './input-fields.ts';
import { requireIdentified } from './named-client.ts';

interface Issued {
  issue_date?: string | undefined;
  client_id: StoredId;
}

interface Issuing {
  kind: NumberKind;
  /** The change issues the document; otherwise it may only date a draft. */
  isIssued: boolean;
  accountId: Id;
  session: Session;
  details?: DetailsForm;
}

/**
 * @param document as it is stored. @param content what the change makes of it.
 * @returns nothing when the change neither issues nor dates it.
 * @throws AppError 400 when the issue date is not allowed, 409 when the client was anonymised.
 */
export async function issuedFields(
  document: Issued & { number_period?: string | undefined },
  content: Partial<Issued>,
  { kind, isIssued, accountId, session, ...form }: Issuing,
): Promise<{ issue_date?: string | undefined; parties?: Parties }> {
  const isDated = content.issue_date !== undefined && content.issue_date !== document.issue_date;
  if (!isIssued && !isDated) return {};
  const account = await readAccount(accountId, session);
  const given = 'issue_date' in content ? content.issue_date : document.issue_date;
  const sequence = sequenceOf(kind, document.number_period ?? '');
  const issue_date = await issueDateOf(given, { session, accountId, account, sequence, isIssued, ...form });
  const client = isIssued && (await findOwn(Client, accountId, content.client_id ?? document.client_id, session));
  if (!client) return { issue_date };
  requireIdentified(client);
  return { issue_date, parties: partiesOf(account, client) };
}
