// Parses objects of a PDF of others (ISO 32000-1, 7.3) out of its bytes. Nothing is followed here: a reference stays one.

/** The error for a file that is no PDF that can be read, with the reason. */
export class BrokenPdf extends Error {}

export class PdfRef {
  readonly number: number;
  constructor(number: number) {
    this.number = number;
  }
}

/** A dictionary with bytes behind it, which stay packed until they are asked for. */
export class PdfStream {
  readonly entries: PdfDictionary;
  /** The place of its first byte. */
  readonly start: number;
  constructor(entries: PdfDictionary, start: number) {
    this.entries = entries;
    this.start = start;
  }
}

export type PdfDictionary = ReadonlyMap<string, PdfObject>;

/** A string of the PDF is a Buffer, because its encoding depends on its use. A text is a name. */
export type PdfObject = null | boolean | number | string | Buffer | PdfRef | PdfStream | PdfDictionary | PdfObject[];

/** Objects in each other. */
const DEPTH_MAX = 64;
/** More than any name or number takes. */
const TOKEN_LONGEST = 256;

const SPACES = new Set([0x00, 0x09, 0x0a, 0x0c, 0x0d, 0x20]);
const DELIMITERS = new Set([...'()<>[]{}/%'].map((character) => character.charCodeAt(0)));
const ESCAPES: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, b: 0x08, f: 0x0c };
const [LINE_FEED, RETURN, OPENING, CLOSING, BACKSLASH] = [0x0a, 0x0d, 0x28, 0x29, 0x5c];

/** Reads objects one after the other. */
export class PdfParser {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    if (!(at >= 0 && at < bytes.length)) throw new BrokenPdf('a place outside of the file');
    this.#bytes = bytes;
    this.at = at;
  }

  /** Returns the next object. @throws BrokenPdf. */
  object(depth = 0): PdfObject {
    if (depth > DEPTH_MAX) throw new BrokenPdf(`more than ${DEPTH_MAX} objects in each other`);
    this.#skipSpace();
    const first = this.#character();
    if (first === '/') return this.#name();
    if (first === '(') return this.#literal();
    if (first === '[') return this.#array(depth);
    if (first === '<') return this.#character(1) === '<' ? this.#dictionary(depth) : this.#hexadecimal();
    return this.#plain();
  }

  /** Returns the object that begins here as `12 0 obj`, which may be a stream. @throws BrokenPdf for one of another number. */
  indirect(number: number): PdfObject {
    if (this.object() !== number) throw new BrokenPdf(`no object ${number} where the table has it`);
    this.object();
    if (this.word() !== 'obj') throw new BrokenPdf(`no object ${number} where the table has it`);
    const value = this.object();
    if (!(value instanceof Map)) return value;
    const end = this.at;
    if (this.word() !== 'stream') {
      this.at = end;
      return value;
    }
    if (this.#bytes[this.at] === RETURN) this.at += 1;
    if (this.#bytes[this.at] === LINE_FEED) this.at += 1;
    return new PdfStream(value, this.at);
  }

  /** Returns the next word, such as `obj` or `trailer`. It is empty before a delimiter. */
  word(): string {
    this.#skipSpace();
    const start = this.at;
    while (this.at < this.#bytes.length && this.#isRegular()) this.at += 1;
    if (this.at - start > TOKEN_LONGEST) throw new BrokenPdf('a word that is too long');
    return this.#bytes.toString('latin1', start, this.at);
  }

  #plain(): PdfObject {
    const word = this.word();
    if (word === 'true') return true;
    if (word === 'false') return false;
    if (word === 'null') return null;
    if (!/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(word)) throw new BrokenPdf('something that is no object');
    if (/^\d+$/.test(word)) {
      const end = this.at;
      if (/^\d{1,5}$/.test(this.word()) && this.word() === 'R') return new PdfRef(Number(word));
      this.at = end;
    }
    return Number(word);
  }

  #name(): string {
    this.at += 1;
    const start = this.at;
    while (this.at < this.#bytes.length && this.#isRegular()) this.at += 1;
    if (this.at - start > TOKEN_LONGEST) throw new BrokenPdf('a name that is too long');
    return this.#bytes
      .toString('latin1', start, this.at)
      .replaceAll(/#([0-9A-Fa-f]{2})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  }

  #array(depth: number): PdfObject[] {
    this.at += 1;
    const items: PdfObject[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.#character() === ']') break;
      items.push(this.object(depth + 1));
    }
    this.at += 1;
    return items;
  }

  #dictionary(depth: number): PdfDictionary {
    this.at += 2;
    const entries = new Map<string, PdfObject>();
    for (;;) {
      this.#skipSpace();
      if (this.#character() === '>' && this.#character(1) === '>') break;
      if (this.#character() !== '/') throw new BrokenPdf('a dictionary without a name');
      const name = this.#name();
      entries.set(name, this.object(depth + 1));
    }
    this.at += 2;
    return entries;
  }

  #hexadecimal(): Buffer {
    const end = this.#bytes.indexOf('>', this.at);
    if (end < 0) throw new BrokenPdf('a string without an end');
    const digits = this.#bytes.toString('latin1', this.at + 1, end).replaceAll(/\s/g, '');
    this.at = end + 1;
    return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex');
  }

  #literal(): Buffer {
    const bytes: number[] = [];
    let open = 0;
    for (;;) {
      const byte = this.#bytes[this.at];
      if (byte === undefined) throw new BrokenPdf('a string without an end');
      this.at += 1;
      if (byte === BACKSLASH) {
        bytes.push(...this.#escaped());
        continue;
      }
      if (byte === OPENING) open += 1;
      if (byte === CLOSING) open -= 1;
      if (open === 0) return Buffer.from(bytes);
      if (byte !== OPENING || open > 1) bytes.push(byte);
    }
  }

  /** Reads behind a backslash: digits, a letter, or a line break that counts for nothing. */
  #escaped(): number[] {
    const [digits] = /^[0-7]{1,3}/.exec(this.#bytes.toString('latin1', this.at, this.at + 3)) ?? [];
    if (digits !== undefined) {
      this.at += digits.length;
      return [Number.parseInt(digits, 8) % 256];
    }
    const character = this.#character();
    const code = character.charCodeAt(0);
    this.at += 1;
    if (code === RETURN && this.#bytes[this.at] === LINE_FEED) this.at += 1;
    if (code === RETURN || code === LINE_FEED) return [];
    return [ESCAPES[character] ?? code];
  }

  #skipSpace() {
    for (;;) {
      const byte = this.#bytes[this.at];
      if (byte === undefined) return;
      if (byte === 0x25) {
        while (this.at < this.#bytes.length && ![LINE_FEED, RETURN].includes(this.#bytes[this.at] as number))
          this.at += 1;
      } else if (SPACES.has(byte)) this.at += 1;
      else return;
    }
  }

  #isRegular(): boolean {
    const byte = this.#bytes[this.at] as number;
    return !SPACES.has(byte) && !DELIMITERS.has(byte);
  }

  /** @throws BrokenPdf at the end of the file. */
  #character(ahead = 0): string {
    const byte = this.#bytes[this.at + ahead];
    if (byte === undefined) throw new BrokenPdf('an end in the middle of an object');
    return String.fromCharCode(byte);
  }
}
