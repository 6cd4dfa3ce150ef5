// What text may hold that is kept and shown: no control characters but tabs and line breaks, and nothing that is not Unicode.
// The second block of them (C1, U+0080 to U+009F) steers terminals as the first does.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to refuse.
export const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** They turn around how the text behind them is shown, which makes one name look like another. Marks that only help mixed text are none. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/;

/** True of a text that is shown on one line among others. */
export function isPlainName(text: string): boolean {
  return isPrintable(text) && !TURNING.test(text);
}

/** A lone surrogate cannot be stored as UTF-8: it would come back as another text. */
export function isPrintable(text: string): boolean {
  return text.isWellFormed() && !UNPRINTABLE.test(text);
}
