// The commands about accounts.

import { repairTimeTotals } from '#libs/billing/audits/time-totals-audit.ts';
import {
  Account,
  type AccountRecord,
  ENTRY_HOURS_LIMIT,
  maxEntryHours,
  replanning,
} from '#libs/models/accounts/account.ts';
import { recount } from '#libs/models/recount.ts';
import { isId } from '#libs/models/tenant.ts';
import { isEmail, knownLocale, knownZone } from '#libs/profile-forms.ts';
import { recorded } from './audited.ts';
import { CommandError } from './connection.ts';
import { readStorage } from './store/storage.ts';
import { requireAll, requireName } from './texts.ts';

interface ProfileOptions {
  name?: string;
  email?: string;
  timeZone?: string;
  locale?: string;
  maxEntryHours?: number;
}

export async function createAccount(options: ProfileOptions & { name: string; test?: boolean }) {
  const account = new Account({ ...profileOf(options), mode: options.test ? 'test' : 'live' });
  await recorded('account.create', String(account._id), async () => {
    await account.save();
    return {};
  });
  return view(account.toObject());
}

/** Sets the given fields. The mode of an account never changes. */
export async function updateAccount(id: string, options: ProfileOptions) {
  await requireAccount(id);
  const changes = profileOf(options);
  const names = Object.keys(changes);
  if (names.length === 0) throw new CommandError('Nothing to change: name at least one field, see --help');
  const changed = await recorded('account.update', id, async () => {
    const account = await Account.findOneAndUpdate(
      { _id: id },
      { $set: { ...changes, ...replanning(changes), updated_at: new Date() } },
      { returnDocument: 'after' },
    ).lean<AccountRecord>();
    return { account, detail: names.join(', ') };
  });
  if (!changed.account) throw new CommandError(`No account has the id ${id}`);
  return view(changed.account);
}

export async function listAccounts() {
  const accounts = await Account.find().sort({ _id: 1 }).lean<AccountRecord[]>();
  return accounts.map(view);
}

/** Lists the storage of accounts in MiB, the largest first. */
export async function listUsage() {
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  return (await readStorage()).map(({ id, name, recordBytes, fileBytes }) => {
    return { id, name, records_mib: mebibytes(recordBytes), files_mib: mebibytes(fileBytes) };
  });
}

/**
 * Counts records anew for the totals of lists, and adds up time anew for those of tasks and projects.
 * @param id one account, or all when absent.
 * @returns the wrong totals by account.
 */
export async function recountAccounts(id: string | undefined) {
  if (id !== undefined) await requireAccount(id);
  const accounts =
    id === undefined ? await Account.find({}, { _id: 1 }).sort({ _id: 1 }).lean<AccountRecord[]>() : [{ _id: id }];
  const rows = [];
  for (const { _id } of accounts) {
    const { wrong } = await recorded('account.recount', String(_id), async () => {
      const names = [...(await recount(String(_id))), ...(await repairTimeTotals(String(_id)))];
      return { wrong: names, detail: `wrong were: ${names.join(', ') || 'none'}` };
    });
    rows.push({ id: String(_id), corrected: wrong.join(', ') || 'nothing' });
  }
  return rows;
}

/** Checks the id of an account. @throws CommandError when no account has the id. */
export async function requireAccount(id: string): Promise<void> {
  if (!isId(id) || !(await Account.exists({ _id: id }))) throw new CommandError(`No account has the id ${id}`);
}

/** Returns the stored fields that the options set. @throws CommandError that names every value the API would reject. */
function profileOf({ name, email, timeZone, locale, maxEntryHours }: ProfileOptions) {
  return requireAll({
    ...(name === undefined ? {} : { name: () => requireName('--name', name) }),
    ...(email === undefined ? {} : { email: () => requireEmail(email) }),
    ...(timeZone === undefined ? {} : { time_zone: () => requireTimeZone(timeZone) }),
    ...(locale === undefined ? {} : { locale: () => requireLocale(locale) }),
    ...(maxEntryHours === undefined ? {} : { max_entry_hours: () => requireEntryHours(maxEntryHours) }),
  });
}

function requireEmail(text: string): string {
  if (isEmail(text)) return text;
  throw new CommandError(`${text} is not an e-mail address`);
}

function requireEntryHours(hours: number): number {
  if (hours > 0 && hours <= ENTRY_HOURS_LIMIT) return hours;
  throw new CommandError(`--max-entry-hours must be more than 0 and at most ${ENTRY_HOURS_LIMIT}`);
}

function requireTimeZone(name: string): string {
  const timeZone = knownZone(name);
  if (timeZone === undefined) throw new CommandError(`${name} is not an IANA time zone such as Europe/Berlin`);
  return timeZone;
}

function requireLocale(text: string): string {
  const locale = knownLocale(text);
  if (locale === undefined) throw new CommandError(`${text} is not a language tag such as de-DE`);
  return locale;
}

function view(account: AccountRecord) {
  return {
    id: String(account._id),
    name: account.name,
    mode: account.mode,
    email: account.email ?? undefined,
    time_zone: account.time_zone,
    locale: account.locale,
    max_entry_hours: maxEntryHours(account),
    created_at: account.created_at.toISOString(),
  };
}
