// The file of a printed document: its bytes are whole, and its name is safe.

const NAME_LONGEST = 100;

/** Bytes that are cut off or no PDF must never look like a document. @throws Error when they are. */
export function requireWholePdf(bytes: Buffer): void {
  if (bytes.toString('latin1', 0, 5) !== '%PDF-' || !bytes.toString('latin1', bytes.length - 8).includes('%%EOF')) {
    throw new Error('The renderer did not return a whole PDF');
  }
}

/** Returns a name that is safe in file systems, headers and shells: without separators, quotes, control characters and leading dots. */
export function fileName(name: string): string {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}"'`\\/:*?<>|%;]+/gu, '-')
    .replace(/^[\s.-]+/, '')
    .trim();
  return Array.from(plain).slice(0, NAME_LONGEST).join('') || 'document';
}
