// Modes of accounts, kept for as long as there is room: an account never changes its mode.
import { type AccountRecord, findAccountModes } from '#libs/models/accounts/account.ts';
import { type KeptReader, openKeptReader } from './cached-loader.ts';

const KEPT = 10_000;

export const openAccountReader = (): KeptReader<Pick<AccountRecord, '_id' | 'mode'>> =>
  openKeptReader(findAccountModes, { max: KEPT });
