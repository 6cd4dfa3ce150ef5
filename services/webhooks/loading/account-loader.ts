// Loads the modes of accounts, and caches them as long as there is room: an account never changes its mode.
import { type AccountRecord, findAccountModes } from '#libs/models/accounts/account.ts';
import { type CachedLoader, openCachedLoader } from './cached-loader.ts';

const CACHED_MAX = 10_000;

export const openAccountLoader = (): CachedLoader<Pick<AccountRecord, '_id' | 'mode'>> =>
  openCachedLoader(findAccountModes, { max: CACHED_MAX });
