// Splits what an invoice charged for time over its entries: each has its hours without those that a package or the fee paid for.
import Big from 'big.js';
import { partition } from 'es-toolkit/array/partition';
import { sumBy } from 'es-toolkit/math/sumBy';
import { lineNet } from '../money/money.ts';
import {
  coverageOf,
  type Draw,
  inOrderOfUse,
  inOrderOfWork,
  isOpen,
  type LineToCover,
  type PackageState,
  type Share,
  sharesOf,
  takeIncluded,
} from './prepaid-hours.ts';
import { hoursQuantity } from './time-rounding.ts';

/** The charged part of a line of time: the line without prepaid and included hours. */
export interface ChargedLine {
  qty: Big;
  /** The charged amount in the currency's smallest unit. */
  worth: number;
}

interface ChargedEntry {
  line: number;
  qty: Big;
  /** The hours that packages paid for. */
  draws: Draw[];
}

export interface ChargedHours {
  /** The charged part of each line, by its id. */
  lines: ReadonlyMap<number, ChargedLine>;
  /** The charged hours of each entry, by its id. */
  entries: ReadonlyMap<string, ChargedEntry>;
}

interface PaidHours {
  /** The seconds that the fee of the invoice includes. */
  included: number;
  /** The hours that the lines drew from packages when they were made. */
  draws: readonly Draw[];
  /** The packages of the client today. */
  packages: readonly PackageState[];
  currency: string;
}

/**
 * Computes the charged hours of each entry. Within a line, quantities sum to the charged quantity, and draws to the draws of the line.
 * The result of an entry is the same whichever entries were credited before.
 */
export function chargedHours(lines: readonly LineToCover[], paid: PaidHours): ChargedHours {
  const shares = new Map(lines.map(({ id, entries, rounding }) => [id, sharesOf(entries, rounding, id)]));
  const open = [...shares.values()].flat().filter(isOpen).toSorted(inOrderOfWork);
  const byFee = takeIncluded(open, paid.included);
  const included = includedParts(lines, byFee, paid.currency);
  const covers = coverageOf(paid.packages);
  const charged = new Map<number, ChargedLine>();
  const entries = new Map<string, ChargedEntry>();
  for (const line of lines) {
    const draws = paid.draws.filter((draw) => draw.line === line.id);
    const own = open.filter((share) => share.line === line.id);
    const drawn = drawnShares(own, draws, { packages: paid.packages, covers });
    const whole = chargedLine(line, {
      drawn: sumBy(draws, ({ seconds }) => seconds),
      included,
      currency: paid.currency,
    });
    charged.set(line.id, whole);
    const quantities = quantitiesOf(shares.get(line.id) ?? [], whole.qty);
    for (const [id, qty] of quantities) entries.set(id, { line: line.id, qty, draws: drawn.get(id) ?? [] });
  }
  return { lines: charged, entries };
}

function chargedLine(
  line: LineToCover,
  { drawn, included, currency }: { drawn: number; included: ReadonlyMap<number, ChargedLine>; currency: string },
): ChargedLine {
  const prepaid = drawn === line.billed ? line.qty : hoursQuantity(drawn);
  const byFee = included.get(line.id);
  const qty = new Big(line.qty).minus(prepaid).minus(byFee?.qty ?? 0);
  const worth = lineNet(line, currency) - lineNet({ ...line, qty: prepaid }, currency) - (byFee?.worth ?? 0);
  return { qty: qty.lt(0) ? new Big(0) : qty, worth: Math.max(0, worth) };
}

/** Splits the lines that take included hours off, one for each rate, over the lines of time. */
function includedParts(
  lines: readonly LineToCover[],
  byFee: ReadonlyMap<number, number>,
  currency: string,
): Map<number, ChargedLine> {
  const parts = new Map<number, ChargedLine>();
  const covered = lines.filter(({ id, rate }) => byFee.has(id) && Number(rate) !== 0);
  for (const group of Map.groupBy(covered, ({ rate }) => rate).values()) {
    const [whole, cut] = partition(group, ({ id, billed }) => byFee.get(id) === billed);
    for (const line of whole) parts.set(line.id, { qty: new Big(line.qty), worth: lineNet(line, currency) });
    const wholeQty = whole.reduce((sum, { qty }) => sum.plus(qty), new Big(0));
    const worthWith = (qty: Big) =>
      group[0] ? lineNet({ ...group[0], qty: wholeQty.plus(qty).toFixed() }, currency) : 0;
    let [seconds, qty, worth] = [0, new Big(0), sumBy(whole, (line) => lineNet(line, currency))];
    for (const line of cut) {
      seconds += byFee.get(line.id) ?? 0;
      const until = new Big(hoursQuantity(seconds));
      parts.set(line.id, { qty: until.minus(qty), worth: worthWith(until) - worth });
      [qty, worth] = [until, worthWith(until)];
    }
  }
  return parts;
}

/** Takes the drawn hours off the shares in the order in which they were covered. @returns the draws by entry. */
function drawnShares(
  shares: readonly Share[],
  draws: readonly Draw[],
  { packages, covers }: { packages: readonly PackageState[]; covers: ReturnType<typeof coverageOf> },
): Map<string, Draw[]> {
  const left = new Map(draws.map((draw) => [draw.package_id, { ...draw }]));
  const taken = new Map<string, Draw[]>();
  const take = (share: Share, draw: Draw | undefined) => {
    const seconds = Math.min(draw?.seconds ?? 0, share.seconds);
    if (!draw || seconds === 0) return;
    draw.seconds -= seconds;
    share.seconds -= seconds;
    const { id } = share.entry;
    const same = taken.get(id)?.find(({ package_id }) => package_id === draw.package_id);
    if (same) same.seconds += seconds;
    else taken.set(id, [...(taken.get(id) ?? []), { ...draw, seconds }]);
  };
  const ordered = packages.filter(({ id }) => left.has(id)).toSorted(inOrderOfUse);
  for (const share of shares) for (const one of ordered) if (covers(one, share.entry)) take(share, left.get(one.id));
  // The days of a package may have changed since. Its hours stay drawn.
  for (const share of shares) for (const draw of left.values()) take(share, draw);
  return taken;
}

/** Splits the charged quantity of a line over its entries, in proportion to their charged seconds. */
function quantitiesOf(shares: readonly Share[], whole: Big): Map<string, Big> {
  const total = sumBy(shares, ({ seconds }) => seconds);
  const quantities = new Map<string, Big>();
  let [sum, before] = [0, new Big(0)];
  for (const { entry, seconds } of shares) {
    sum += seconds;
    const rounded = new Big(hoursQuantity(sum));
    const until = sum === total || rounded.gt(whole) ? whole : rounded;
    quantities.set(entry.id, until.minus(before));
    before = until;
  }
  return quantities;
}
