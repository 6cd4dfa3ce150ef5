// Commands about accounts.
import { Account, type AccountRecord } from '#libs/models/account.ts';
import { isId } from '#libs/models/tenant.ts';
import { isEmail, knownLocale, knownZone } from '#libs/profile-forms.ts';
import { CommandError } from './connection.ts';
import { noted } from './noted.ts';
import { requireName } from './texts.ts';

export async function createAccount(options: {
  name: string;
  email?: string;
  timeZone?: string;
  locale?: string;
  test?: boolean;
}) {
  const name = requireName('--name', options.name);
  if (options.email !== undefined && !isEmail(options.email)) {
    throw new CommandError(`${options.email} is not an e-mail address`);
  }
  const timeZone = options.timeZone === undefined ? undefined : requireTimeZone(options.timeZone);
  const locale = options.locale === undefined ? undefined : requireLocale(options.locale);
  const account = new Account({
    name,
    mode: options.test ? 'test' : 'live',
    ...(options.email === undefined ? {} : { email: options.email }),
    ...(timeZone === undefined ? {} : { time_zone: timeZone }),
    ...(locale === undefined ? {} : { locale }),
  });
  await noted('account.create', String(account._id), async () => {
    await account.save();
    return {};
  });
  return view(account.toObject());
}

export async function listAccounts() {
  const accounts = await Account.find().sort({ _id: 1 }).lean<AccountRecord[]>();
  return accounts.map(view);
}

/** @throws CommandError when no account has the id. */
export async function requireAccount(id: string): Promise<void> {
  if (!isId(id) || !(await Account.exists({ _id: id }))) throw new CommandError(`No account has the id ${id}`);
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
    created_at: account.created_at.toISOString(),
  };
}
