// What is in hand at this moment: thousands of short-lived things come and go. V8 keeps what has left a Set or a Map that is in use all the
// time until it looks through all of its memory: docs/adr/0021-avoid-retaining-settled-requests.md

const PLACE = Symbol('place in hand');

interface Placed {
  [PLACE]?: number;
}

/** Does what a Set does, but keeps no order and lets go of what has left. An object can be in one at a time. */
export class LeakFreeSet<Value extends object> implements Iterable<Value> {
  readonly #values: Value[] = [];

  constructor(values: Iterable<Value> = []) {
    for (const value of values) this.add(value);
  }

  get size(): number {
    return this.#values.length;
  }

  add(value: Value): this {
    if (this.#placeOf(value) === undefined) (value as Placed)[PLACE] = this.#values.push(value) - 1;
    return this;
  }

  /** @returns false when it was not there. */
  delete(value: Value): boolean {
    const place = this.#placeOf(value);
    if (place === undefined) return false;
    const last = this.#values.pop();
    if (last && last !== value) {
      // The last one moves up, so that no other has to.
      this.#values[place] = last;
      (last as Placed)[PLACE] = place;
    }
    return true;
  }

  clear(): void {
    this.#values.length = 0;
  }

  /** Those that are there now, whatever comes and goes meanwhile. */
  [Symbol.iterator](): Iterator<Value> {
    return [...this.#values][Symbol.iterator]();
  }

  #placeOf(value: Value): number | undefined {
    const place = (value as Placed)[PLACE];
    return place !== undefined && this.#values[place] === value ? place : undefined;
  }
}

/** Does what a Map does, in the order of arrival, but lets go of the values that have left. Keys are short: V8 keeps those. */
export class LeakFreeMap<Key extends string | number, Value extends object> {
  readonly #places = new Map<Key, { value: Value | undefined }>();

  get size(): number {
    return this.#places.size;
  }

  get(key: Key): Value | undefined {
    return this.#places.get(key)?.value;
  }

  set(key: Key, value: Value): this {
    this.delete(key);
    this.#places.set(key, { value });
    return this;
  }

  /** @returns false when it was not there. */
  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place) place.value = undefined;
    return this.#places.delete(key);
  }

  keys(): Key[] {
    return [...this.#places.keys()];
  }
}
