// A Set and a Map for values that come and go thousands of times a second. V8 retains values deleted from a busy Set or Map until a
// full collection: docs/adr/0021-avoid-retaining-settled-requests.md

const INDEX = Symbol('index in a LeakFreeSet');

interface Indexed {
  [INDEX]?: number;
}

/** Like a Set, without order, and releases deleted values. An object can be in one LeakFreeSet at a time. */
export class LeakFreeSet<Value extends object> implements Iterable<Value> {
  readonly #values: Value[] = [];

  constructor(values: Iterable<Value> = []) {
    for (const value of values) this.add(value);
  }

  get size(): number {
    return this.#values.length;
  }

  add(value: Value): this {
    if (this.#indexOf(value) === undefined) (value as Indexed)[INDEX] = this.#values.push(value) - 1;
    return this;
  }

  /** @returns false when it was absent. */
  delete(value: Value): boolean {
    const index = this.#indexOf(value);
    if (index === undefined) return false;
    const last = this.#values.pop();
    if (last && last !== value) {
      // The last value fills the gap, so that no other has to move.
      this.#values[index] = last;
      (last as Indexed)[INDEX] = index;
    }
    return true;
  }

  clear(): void {
    this.#values.length = 0;
  }

  /** Iterates over a snapshot. */
  [Symbol.iterator](): Iterator<Value> {
    return [...this.#values][Symbol.iterator]();
  }

  #indexOf(value: Value): number | undefined {
    const index = (value as Indexed)[INDEX];
    return index !== undefined && this.#values[index] === value ? index : undefined;
  }
}

/** Like a Map in insertion order, and releases deleted values. V8 still retains the keys, so keep them short. */
export class LeakFreeMap<Key extends string | number, Value extends object> {
  readonly #cells = new Map<Key, { value: Value | undefined }>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value;
  }

  set(key: Key, value: Value): this {
    this.delete(key);
    this.#cells.set(key, { value });
    return this;
  }

  /** @returns false when it was absent. */
  delete(key: Key): boolean {
    const cell = this.#cells.get(key);
    if (cell) cell.value = undefined;
    return this.#cells.delete(key);
  }

  keys(): Key[] {
    return [...this.#cells.keys()];
  }
}
