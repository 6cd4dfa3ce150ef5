// The activity of documents over HTTP: everything that happened to an invoice, a quote or a credit note.
import type { MissingText } from '#libs/errors.ts';
import { ApiKey, type ApiKeyRecord, allows, type Scope } from '#libs/models/accounts/api-key.ts';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { findAllOwn, type Records, type Stamped } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import { type ActivityEvent, activityListing, Event } from '#libs/models/webhooks/event.ts';
import { type ListQuery, listOf } from '../http/list.ts';
import { type Caller, type Context, type Route, route } from '../http/route.ts';
import { activityResponse } from './response.ts';
import { activityView } from './view.ts';

interface Documents {
  records: Records<Stamped>;
  /** The word in the operation, such as `listInvoiceActivity`. */
  name: string;
  /** The words in its title. */
  words: string;
  scope: Scope;
  missing: MissingText;
}

const DOCUMENTS: Readonly<Record<string, Documents>> = {
  invoices: {
    records: Invoice as never,
    name: 'Invoice',
    words: 'an invoice',
    scope: 'invoices:read',
    missing: 'Invoice not found or access denied',
  },
  quotes: {
    records: Quote as never,
    name: 'Quote',
    words: 'a quote',
    scope: 'quotes:read',
    missing: 'Quote not found or access denied',
  },
  'credit-notes': {
    records: CreditNote as never,
    name: 'CreditNote',
    words: 'a credit note',
    scope: 'credit-notes:read',
    missing: 'Credit note not found or access denied',
  },
};

const activityList = listOf<ActivityEvent>(Event as unknown as Records<ActivityEvent>, activityListing);

export const activityRoutes: readonly Route[] = Object.entries(DOCUMENTS).map(
  ([segment, { records, name, words, scope, missing }]) =>
    route({
      method: 'get',
      path: `/api/v1/${segment}/{id}/activity`,
      operation: `list${name}Activity`,
      scope,
      query: activityList.query,
      missing,
      docs: {
        title: `List activity of ${words}`,
        summary: `List everything that happened to ${words}, the latest first`,
        description:
          'Each entry is an event of the feed that is about this document, with its time, its actor and its facts. ' +
          '`invoice.updated` and `quote.updated` are left out where the same request or act has another entry. ' +
          'Of a record that the key may not read, an entry shows no more than that something happened: `missing_scope`.',
        response: activityResponse,
      },
      handler: (context: Context<unknown, ListQuery>) => listActivity(records, context),
    }),
);

async function listActivity(
  records: Records<Stamped>,
  { caller, id, query, requireRecord }: Context<unknown, ListQuery>,
) {
  const { _id } = await requireRecord(records);
  const view = async (events: ActivityEvent[]) => {
    const names = await namesOfKeys(events, caller);
    return events.map((event) => activityView(event, { caller, document: id, names }));
  };
  return activityList.respond({ caller, query }, view, { 'subjects.id': _id });
}

/** Returns the names of the keys that caused the events, as far as the caller may read them. */
async function namesOfKeys(events: readonly ActivityEvent[], caller: Caller): Promise<Map<Id, string>> {
  const mayReadKeys = allows(caller.scopes, 'keys:read');
  const ids = new Set(
    events.flatMap(({ by }) => {
      const id = by?.type === 'api_key' && by.id ? String(by.id) : undefined;
      return id !== undefined && (mayReadKeys || id === caller.keyId) ? [id] : [];
    }),
  );
  if (ids.size === 0) return new Map();
  const keys = await findAllOwn<ApiKeyRecord & Stamped>(ApiKey as never, caller.accountId, ids, ['name']);
  return new Map([...keys].map(([id, { name }]) => [id, name]));
}
