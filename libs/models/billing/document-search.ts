// The searched text of an invoice or a quote, and the filter that searches it.
import { searchText, textWithin } from '../../search-text.ts';
import { Client } from '../accounts/client.ts';
import type { Filter } from '../keyset.ts';
import { driverOf } from '../records.ts';
import { type Id, type StoredId, storedId } from '../tenant.ts';
import type { Parties } from './parties.ts';

/** The most clients in one search. Only a text of a letter or two matches more. */
export const CLIENTS_SEARCHED = 1_000;

/**
 * Returns the value of `search`. Before a document is sent, its client is not frozen into it and is searched itself,
 * see documentsWithText.
 */
export function documentSearch({
  number_text,
  description,
  parties,
}: {
  number_text?: string | undefined;
  description: string | null;
  parties?: Parties | undefined;
}): string {
  const { name = '', company_name = '', vat_id = '' } = parties?.client ?? {};
  return searchText([number_text ?? '', description ?? '', name, company_name, vat_id].join('\n'));
}

/**
 * Returns the filter of documents whose number, description or client has the text. A draft has the client of today.
 * @returns undefined when the text matches more than CLIENTS_SEARCHED clients.
 */
export async function documentsWithText(accountId: Id, text: string): Promise<Filter | undefined> {
  const within = textWithin(text);
  const clients = await driverOf(Client)
    .find({ account_id: storedId(accountId), search: within } as object, {
      projection: { _id: 1 },
      limit: CLIENTS_SEARCHED + 1,
      maxTimeMS: SEARCH_LIMIT_MS,
    })
    .toArray();
  if (clients.length > CLIENTS_SEARCHED) return undefined;
  const ids: StoredId[] = clients.map(({ _id }) => _id);
  return { $or: [{ search: within }, { parties: null, client_id: { $in: ids } }] };
}

const SEARCH_LIMIT_MS = 5_000;
