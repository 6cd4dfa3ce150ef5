// Stores the change of a quote and announces it. Callers of the API, conversions and the client's page all come here.

import { documentSearch } from '../../models/billing/document-search.ts';
import { embeddedIn } from '../../models/billing/embedded.ts';
import {
  effectiveQuoteStatus,
  Quote,
  type QuoteRecord,
  type QuoteStatus,
  quoteView,
} from '../../models/billing/quote.ts';
import { changeOwn } from '../../models/records.ts';
import type { StoredId } from '../../models/tenant.ts';
import type { EventType } from '../../models/webhooks/event-types.ts';
import { type Acceptance, acceptedBy } from '../../rules/quotes/acceptance.ts';
import { issuedFields } from '../documents/issue-document.ts';
import { endMail } from '../messages/end-mail.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** The event type of a change to each status. */
const EVENT_OF: Partial<Record<QuoteStatus, EventType>> = {
  Sent: 'quote.sent',
  Accepted: 'quote.accepted',
  Declined: 'quote.declined',
  Expired: 'quote.expired',
};

interface StoredChange {
  /** The status that was asked for. It is shown even when the last day has passed; the next read says Expired. */
  status: QuoteStatus | undefined;
  /** True when this status is new, and so an event. */
  isMoved: boolean;
  /** The account's calendar day. */
  today: string;
  /** The evidence that the client left with it. */
  evidence?: StoredId;
}

/** Stores the changes, and announces `quote.updated` and the new status. @returns the quote in the form of the API. */
export async function storeQuote(
  unit: UnitOfWork,
  quote: QuoteRecord,
  changes: Partial<QuoteRecord>,
  { status, isMoved, today, evidence }: StoredChange,
) {
  const { session, accountId } = unit;
  const search = documentSearch({ ...quote, ...changes });
  const ended = await endMail(unit, 'quote', { ...quote, ...changes });
  const changed = await changeOwn(Quote, quote, { ...changes, ...ended, search }, session);
  const embedded = await embeddedIn([changed], accountId, session);
  const view = quoteView(changed, { ...embedded(changed), status: status ?? effectiveQuoteStatus(changed, today) });
  await unit.announce('quote.updated', view);
  const event = isMoved && status && EVENT_OF[status];
  const record = evidence && ({ type: 'acceptance', id: String(evidence) } as const);
  if (event) await unit.announce(event, view, record ? { activity: { record } } : {});
  return view;
}

/** Returns the changes that accept a quote in its present form. One that was never sent is issued by the way. */
export async function acceptedFields(
  { session, accountId, warnings }: UnitOfWork,
  quote: QuoteRecord,
  by: Acceptance['by'],
): Promise<Partial<QuoteRecord>> {
  const issuing = { kind: 'quote', isIssued: !quote.parties, accountId, session, warnings, details: 'list' } as const;
  return {
    status: 'Accepted',
    expires_on: undefined,
    decline: undefined,
    acceptance: acceptedBy(by, quote),
    ...(await issuedFields(quote, {}, issuing)),
  };
}
