// What text may hold that is kept and shown: no control characters but tabs and line breaks, and nothing that is not Unicode.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to refuse.
export const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** A lone surrogate cannot be stored as UTF-8: it would come back as another text. */
export function isPrintable(text: string): boolean {
  return text.isWellFormed() && !UNPRINTABLE.test(text);
}
