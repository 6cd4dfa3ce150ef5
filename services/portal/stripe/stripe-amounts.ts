// The currencies in which a sum of ours is the same number at Stripe, see https://docs.stripe.com/currencies.
import { decimalsOf } from '#libs/rules/money/money.ts';

/** Stripe counts these in whole units. */
const WITHOUT_DECIMALS = new Set([
  'BIF',
  'CLP',
  'DJF',
  'GNF',
  'JPY',
  'KMF',
  'KRW',
  'PYG',
  'RWF',
  'VND',
  'VUV',
  'XAF',
  'XOF',
  'XPF',
]);
/** Stripe counts these in another way than ISO 4217. */
const DIFFERENT = new Set(['ISK', 'MGA', 'MRU', 'UGX']);

/** True for a currency with the same smallest unit at Stripe. Those with three decimals are left out: Stripe rounds them. */
export function isChargeable(currency: string): boolean {
  if (DIFFERENT.has(currency)) return false;
  return decimalsOf(currency) === (WITHOUT_DECIMALS.has(currency) ? 0 : 2);
}
