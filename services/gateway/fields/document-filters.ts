// Filters of the lists of invoices and of quotes.
import { type DetailsForm, fieldProblem } from '#libs/errors.ts';
import { line } from '#libs/input/kinds.ts';
import { CLIENTS_SEARCHED, documentsWithText } from '#libs/models/billing/document-search.ts';
import { type Asked, byId, oneByOne } from '../http/list.ts';
import { searchInput } from './list-filters.ts';

/** Characters of the longest printed number. */
const NUMBER_LONGEST = 60;
const SEARCH_LONGEST = 100;

/** @param details of a 400, see Route. */
export function documentFilters(details?: DetailsForm) {
  return {
    client_id: byId('client_id'),
    number: {
      input: line().max(NUMBER_LONGEST).description('The printed number, exactly'),
      where: (number_text: string) => ({ number_text }),
    },
    q: {
      input: searchInput(SEARCH_LONGEST, 'Part of the number, the description or the client'),
      where: async (text: string, { caller }: Asked) => {
        if (text === '') return {};
        const found = await documentsWithText(caller.accountId, text);
        if (found) return oneByOne(found);
        throw fieldProblem('q', 'finds_too_many', { limit: CLIENTS_SEARCHED }, details);
      },
    },
  };
}
