// Choices that look random and are the same again for the same seed.

export interface Chance {
  /** 0 to 1, without 1. */
  next(): number;
  /** A whole number, both ends included. */
  whole(least: number, most: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** True in this share of all cases. */
  happens(share: number): boolean;
  shuffled<Item>(items: readonly Item[]): Item[];
}

/** @param name sets choices apart that must not influence each other under one seed. */
export function chanceOf(seed: number, name: string): Chance {
  // FNV-1a of the name, mixed with the seed; then mulberry32.
  let state = seed | 0;
  for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193);

  function next() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    whole,
    pick(items) {
      if (items.length === 0) throw new Error('there is nothing to choose from');
      return items[whole(0, items.length - 1)] as (typeof items)[number];
    },
    happens: (share) => next() < share,
    shuffled(items) {
      const list = [...items];
      for (let last = list.length - 1; last > 0; last -= 1) {
        const other = whole(0, last);
        [list[last], list[other]] = [list[other] as never, list[last] as never];
      }
      return list;
    },
  };
}
