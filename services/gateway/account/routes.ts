// The caller's own account over HTTP.
import { requirePrintableIssuer } from '#libs/billing/documents/printable-size.ts';
import { readdressArchive } from '#libs/billing/messages/archive-copies.ts';
import { applyRate } from '#libs/billing/time/settle-rate.ts';
import { fieldProblem } from '#libs/errors.ts';
import { Account, type AccountRecord, accountView, replanning } from '#libs/models/accounts/account.ts';
import { isUnchanged } from '#libs/models/records.ts';
import { CURRENCY_STANDARD, decimalsOf, isExact } from '#libs/rules/money/money.ts';
import { forgetProfile } from '../http/authenticate.ts';
import { updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { changedFormats } from './change-formats.ts';
import { type AccountChanges, accountChanges } from './input.ts';
import { accountResponse } from './response.ts';

const path = '/api/v1/account';

export const accountRoutes: readonly Route[] = [
  singleRead({
    path,
    operation: 'getAccount',
    scope: 'account:read',
    docs: {
      title: 'Get the account',
      summary: 'Get the account of the key: the issuer documents are printed from',
      response: accountResponse,
    },
    read: readOwnAccount,
  }),
  route({
    method: 'patch',
    path,
    operation: 'updateAccount',
    isPrinted: true,
    scope: 'account:write',
    alsoNeeds: {
      'time-entries:write': 'the rate is applied to unbilled time',
      'messages:write': 'it turns on receipts or reminders',
    },
    body: accountChanges,
    missing: 'Account not found or access denied',
    // No operation creates an account whose defaults could be read.
    defaults: { time_zone: 'UTC', locale: 'en-US' },
    rechecksKey: true,
    docs: {
      summary: 'Update the account',
      response: accountResponse,
    },
    handler: updateAccount,
  }),
];

async function readOwnAccount({ caller, session }: Reading) {
  // Not the remembered profile: what was changed through another gateway shows at once.
  const account = await Account.findById(caller.accountId)
    .session(session ?? null)
    .lean<AccountRecord>();
  return account && accountView(account);
}

async function updateAccount({ caller, body, commit, missing, requireScope }: Context<AccountChanges>) {
  const { apply_to, ...rest } = body;
  if (apply_to === 'unbilled') requireScope('time-entries:write');
  // They are mailed later, when no key is there.
  if (body.receipts || (body.reminders ?? []).length > 0) requireScope('messages:write');
  const response = await commit(async (unit) => {
    const { session, accountId } = unit;
    const account = await Account.findById(accountId).session(session).lean<AccountRecord>();
    if (!account) throw missing();
    const next = { ...rest, ...(await changedFormats(account, rest, session)) };
    const given = Object.entries(next).map(([name, value]) => [name, value === '' ? null : value] as const);
    const view = accountView(account);
    // A default that the response shows changes nothing when it is sent back, although it is not stored.
    const isSame = given.every(
      ([name, value]) =>
        isUnchanged<object>(account, { [name]: value }) || isUnchanged<object>(view, { [name]: value }),
    );
    const apply = async () => {
      if (apply_to === 'unbilled') await applyRate(unit, { from: 'account' });
    };
    if (isSame) {
      await apply();
      return updated(view);
    }
    requireWholeStep({ ...account, ...rest });
    requirePrintableIssuer({ ...account, ...rest } as Parameters<typeof requirePrintableIssuer>[0]);
    const changed = await Account.findOneAndUpdate({ _id: accountId }, changesOf({ ...next, ...replanning(rest) }), {
      session,
      returnDocument: 'after',
    }).lean<AccountRecord>();
    if (!changed) throw missing();
    if (rest.mail !== undefined) await readdressArchive(unit, changed);
    await apply();
    return updated(accountView(changed));
  });
  forgetProfile(caller.accountId);
  return response;
}

/** @throws AppError 400 for a step with more decimals than the account's currency has. */
function requireWholeStep({ total_rounding, currency }: Pick<AccountChanges, 'total_rounding' | 'currency'>): void {
  const own = currency ?? CURRENCY_STANDARD;
  if (!total_rounding || isExact(total_rounding, own)) return;
  throw fieldProblem('total_rounding', 'step_too_precise', { decimals: decimalsOf(own), currency: own });
}

/** An optional field given as null or '' is removed. */
function changesOf(body: object) {
  const isCleared = (value: unknown) => value === null || value === '';
  const entries = Object.entries(body);
  return {
    $set: { ...Object.fromEntries(entries.filter(([, value]) => !isCleared(value))), updated_at: new Date() },
    $unset: Object.fromEntries(entries.filter(([, value]) => isCleared(value)).map(([name]) => [name, 1])),
  };
}
