// The reader of a client's page, as far as the installation knows.
import type { Id } from '../../models/tenant.ts';

export interface Visitor {
  /** The link by which the reader came. */
  linkId: Id;
  /** The address of the request. */
  address: string;
  /** The header `User-Agent`, cut to BROWSER_LONGEST. */
  browser: string;
}

/** Characters of a browser's name that are kept. */
export const BROWSER_LONGEST = 500;
