// What a mutant is: one safeguard taken out of the product, and the test that must notice.

export interface Edit {
  file: string;
  /** Stands exactly once in the file. */
  text: string;
  instead: string;
}

export interface Mutant {
  /** The safeguard, as it is when it is gone. */
  gone: string;
  edits: [Edit, ...Edit[]];
  oracle: {
    file: string;
    /** A part of the test's name, as it stands in the file. */
    test: string;
  };
}

/** A check that is there, but never fails. @param text begins with its `if`. */
export function guard(gone: string, file: string, text: string, oracle: Mutant['oracle']): Mutant {
  return { gone, edits: [{ file, text, instead: text.replace(/if \(.*\)/s, 'if (false as boolean)') }], oracle };
}

/** @throws Error unless `text` stands in `source` exactly once. */
export function applied(source: string, { file, text, instead }: Edit): string {
  const count = source.split(text).length - 1;
  if (count !== 1) throw new Error(`${file} holds ${count} times, not once: ${text}`);
  return source.replace(text, () => instead);
}
