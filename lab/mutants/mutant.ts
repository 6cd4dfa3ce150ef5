// What a mutant is: one safety taken out of the product, and the test that must notice.

export interface Edit {
  file: string;
  /** Stands exactly once in the file. */
  text: string;
  instead: string;
}

export interface Mutant {
  /** The safety, as it is when it is gone. */
  gone: string;
  edits: [Edit, ...Edit[]];
  oracle: {
    file: string;
    /** A part of the test's name, as it stands in the file. */
    test: string;
  };
}

/** @throws Error unless `text` stands in `source` exactly once. */
export function applied(source: string, { file, text, instead }: Edit): string {
  const count = source.split(text).length - 1;
  if (count !== 1) throw new Error(`${file} holds ${count} times, not once: ${text}`);
  return source.replace(text, () => instead);
}
