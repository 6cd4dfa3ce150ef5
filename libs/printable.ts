// The characters that stored text may contain: valid Unicode, and no control characters but tabs and line breaks. The
// C1 block (U+0080 to U+009F) controls terminals as C0 does.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to reject.
export const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Characters that end a line in some program. */
export const LINE_BREAK = /[\n\r\u2028\u2029]/;

/** Bidirectional overrides and isolates, which reorder the text on a line and what follows it. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/;
const EVERY_BIDI_CONTROL = new RegExp(BIDI_CONTROLS, 'g');
/**
 * Characters without width that shape nothing. They make one name look like another. Plain direction marks are not
 * among them, because texts of several scripts need them, nor are joiners, which shape letters and emoji.
 */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b\u2060-\u2064\ufeff]/;

/** True for a text that is safe to show on a line among others. */
export function isPlainLine(text: string): boolean {
  return isPrintable(text) && !BIDI_CONTROLS.test(text);
}

/** True for a line that names something. */
export function isPlainName(text: string): boolean {
  return isPlainLine(text) && !INVISIBLE.test(text);
}

export function withoutBidiControls(text: string): string {
  return text.replaceAll(EVERY_BIDI_CONTROL, '');
}

/**
 * True for valid text without control characters. A lone surrogate has no UTF-8 form and would be read back as another
 * text.
 */
export function isPrintable(text: string): boolean {
  return text.isWellFormed() && !UNPRINTABLE.test(text);
}
