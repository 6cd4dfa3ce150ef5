// Text strings of a PDF (ISO 32000-1, 7.9.2.2).

/** Writes ASCII as it is, everything else as hexadecimal UTF-16 with a byte order mark. */
export function textString(text: string): string {
  if (/^[ -~]*$/.test(text)) return `(${text.replaceAll(/[\\()]/g, '\\$&')})`;
  return `<FEFF${Buffer.from(text, 'utf16le').swap16().toString('hex').toUpperCase()}>`;
}

/** Matches a string as Chromium and this file write it, with every bracket escaped. */
export const TEXT_STRING = String.raw`\((?:[^\\()]|\\[\s\S])*\)|<[0-9A-Fa-f]*>`;

const ESCAPED: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Reads a string that TEXT_STRING matches. */
export function readTextString(written: string): string {
  const inner = written.slice(1, -1);
  const bytes = written.startsWith('<')
    ? Buffer.from(inner, 'hex')
    : Buffer.from(
        inner.replaceAll(/\\([0-7]{1,3}|[\s\S])/g, (_all, code: string) =>
          /\d/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPED[code] ?? code),
        ),
        'latin1',
      );
  return readTextBytes(bytes);
}

/** Reads the bytes of a text string. The rare characters in which PDFDocEncoding differs from Latin 1 are not told apart. */
export function readTextBytes(bytes: Buffer): string {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return bytes.toString('utf8', 3);
  const isWide = (first === 0xfe && second === 0xff) || (first === 0xff && second === 0xfe);
  if (!isWide) return bytes.toString('latin1');
  const units = Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2)));
  return (first === 0xfe ? units.swap16() : units).toString('utf16le');
}
