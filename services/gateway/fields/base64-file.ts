// Reads a file that a field holds in base64.

const BASE64 = /^[\w+/\s-]*={0,2}\s*$/;

/** Returns the bytes of the file, or undefined when the text is no base64. Line breaks may stand in it. */
export function bytesOfBase64(text: string): Buffer | undefined {
  return BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
}
