// Which characters stored text may contain: valid Unicode, and no control characters but tabs and line breaks.
// The C1 block (U+0080 to U+009F) controls terminals as C0 does.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to reject.
export const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Bidirectional overrides and isolates make one name look like another. Plain direction marks are harmless. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/;

/** True for a text that is safe to show on one line. */
export function isPlainName(text: string): boolean {
  return isPrintable(text) && !BIDI_CONTROLS.test(text);
}

/** A lone surrogate has no UTF-8 form and would be read back as another text. */
export function isPrintable(text: string): boolean {
  return text.isWellFormed() && !UNPRINTABLE.test(text);
}
