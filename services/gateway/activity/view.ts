// An entry of the activity of a document as its caller may see it.
import { allows, type Scope } from '#libs/models/accounts/api-key.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { ActivityEvent } from '#libs/models/webhooks/event.ts';
import type { ActivityFacts, ActivityRecord } from '#libs/models/webhooks/event-activity.ts';
import type { Caller } from '../http/route.ts';

/** The scope that reads each record by an operation of its own. */
const READ_BY: Readonly<Record<ActivityRecord, Scope>> = {
  quote: 'quotes:read',
  invoice: 'invoices:read',
  recurring_invoice: 'recurring-invoices:read',
  payment: 'payments:read',
  credit_note: 'credit-notes:read',
  message: 'messages:read',
  link: 'links:read',
  promise: 'invoices:read',
  question: 'messages:read',
  acceptance: 'quotes:read',
};

interface Shown {
  caller: Pick<Caller, 'scopes'>;
  /** The document whose activity it is. */
  document: Id;
  /** The names of API keys that the caller may see. */
  names: ReadonlyMap<Id, string>;
}

export function activityView(event: ActivityEvent, { caller, document, names }: Shown) {
  const { by, subjects = [], facts = {} } = event;
  const scope = facts.record && READ_BY[facts.record.type];
  const isHidden = scope !== undefined && !allows(caller.scopes, scope);
  const keyId = by?.id ? String(by.id) : null;
  return {
    id: String(event._id),
    type: event.type,
    at: event.created_at.toISOString(),
    by: by ? { type: by.type, id: keyId, name: (keyId && names.get(keyId)) ?? null } : null,
    status: facts.status ?? null,
    amount_due: facts.amount_due ?? null,
    ...(isHidden ? HIDDEN : detailsOf(facts, subjects.find(({ id }) => String(id) === document)?.amount)),
    // The sum that is due is the document's own.
    ...(facts.amount_due === undefined ? {} : { currency: facts.currency ?? null }),
    missing_scope: isHidden ? scope : null,
  };
}

function detailsOf({ record, currency, date, days, text, recipients, ...facts }: ActivityFacts, own?: number) {
  const amount = own ?? facts.amount ?? null;
  return {
    record: record ? { ...record, number: record.number ?? null } : null,
    amount,
    currency: amount === null ? null : (currency ?? null),
    date: date ?? null,
    days: days ?? null,
    text: text ?? null,
    recipients: recipients ?? null,
  };
}

const HIDDEN: ReturnType<typeof detailsOf> = detailsOf({});
