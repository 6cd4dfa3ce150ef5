// Splits what an invoice charged for time over its entries: each has its hours without those that a package or the fee paid for.
import Big from 'big.js';
import { sumBy } from 'es-toolkit/math/sumBy';
import { includedByRate, lessPrepaid, type PricedHours } from './included-by-rate.ts';
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

interface ChargedEntry {
  line: number;
  qty: Big;
  /** The hours that packages paid for. */
  draws: Draw[];
}

export interface ChargedHours {
  /** The charged part of each line, without prepaid and included hours, by its id. */
  lines: ReadonlyMap<number, PricedHours>;
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
  const included = new Map(includedByRate(lines, { ...paid, included: byFee }).flatMap(({ parts }) => [...parts]));
  const covers = coverageOf(paid.packages);
  const charged = new Map<number, PricedHours>();
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
  { drawn, included, currency }: { drawn: number; included: ReadonlyMap<number, PricedHours>; currency: string },
): PricedHours {
  const open = lessPrepaid(line, drawn, currency);
  const part = included.get(line.id);
  return part ? { qty: open.qty.minus(part.qty), worth: open.worth - part.worth } : open;
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
