// Reads a raw delivery report: which message came back, from whom and why. It knows the reports of RFC 3464 and RFC 6533, complaints of
// RFC 5965, and the texts that qmail, Exim and old Exchange servers write.
import { type HeaderLines, type ParsedMail, simpleParser } from 'mailparser';
import { type ReportedRecipient, type ReportedReturn, returnOf } from './reported-return.ts';

export interface DeliveryReport {
  /** Ids and `Message-ID` headers of the message that came back, the surest first. */
  messages: string[];
  recipients: ReportedRecipient[];
}

const KIB = 1024;
/** Parts of a report. A usual one has three. */
const PARTS_MAX = 50;
/** Bytes of the header of one part. */
const HEAD_BYTES_MAX = 128 * KIB;
/** Recipients of a report. A message has 20 at most. */
const RECIPIENTS_MAX = 100;
const NAMES_MAX = 50;
/** Characters of a report's text that are looked at. */
const TEXT_MAX = 256 * KIB;

const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status'];
const COMPLAINT_TYPE = 'message/feedback-report';
const RETURNED_TYPES = /^(?:message\/(?:rfc822|global)(?:-headers)?|text\/rfc822-headers)$/;
/** Reports of RFC 6430, RFC 6591 and DMARC say nothing about a recipient who wants no mail. */
const NO_COMPLAINTS = ['not-spam', 'auth-failure', 'dmarc'];
/** The local part of a return path of ours. */
const RETURN_PATH = /\bbounce\+([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/gi;
const MESSAGE_ID = /<[^<>\s]{1,248}>/g;
/** The headers in which servers write the address that a report was delivered to. */
const DELIVERED_TO = ['to', 'delivered-to', 'x-original-to', 'envelope-to', 'x-envelope-to', 'x-rcpt-to'];
/** The first line in a mailbox file, which some programs put before a mail. */
const MBOX_LINE = /^(?:From [^\n]*\n)/;

/** Returns undefined for bytes that are no report. */
export async function parseReport(bytes: Uint8Array): Promise<DeliveryReport | undefined> {
  const mail = await parsed(bytes);
  if (!mail) return undefined;
  const text = (mail.text ?? '').slice(0, TEXT_MAX);
  const returned = returnedHeaders(mail, text);
  const found =
    recipientsOfStatus(mail) ??
    recipientsOfComplaint(mail, returned) ??
    recipientsOfHeader(mail, text) ??
    recipientsOfText(text);
  return found && { messages: messagesOf(mail, returned), recipients: found.slice(0, RECIPIENTS_MAX) };
}

async function parsed(bytes: Uint8Array): Promise<ParsedMail | undefined> {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const line = MBOX_LINE.exec(start.toString('latin1', 0, KIB));
  try {
    return await simpleParser(start.subarray(line?.[0].length ?? 0), {
      keepDeliveryStatus: true,
      // The message that came back stays one part, whatever is in it.
      ignoreEmbedded: true,
      maxChildNodes: PARTS_MAX,
      maxHeadSize: HEAD_BYTES_MAX,
      checksumAlgo: false,
      keepCidLinks: true,
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipTextLinks: true,
      skipImageLinks: true,
    });
  } catch {
    return undefined;
  }
}

type Fields = Map<string, string[]>;

function partsOf({ attachments }: ParsedMail, isWanted: (type: string) => boolean): string[] {
  return attachments
    .filter(({ contentType }) => isWanted(contentType.toLowerCase()))
    .map(({ content }) => content.subarray(0, TEXT_MAX).toString('utf8'));
}

/** Reads lines of the form `Name: value`, with values that continue on the next line. */
function fieldsOf(block: string): Fields {
  const fields: Fields = new Map();
  for (const line of block.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const [, name, value] = /^([\w-]{1,60})[ \t]*:(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const key = name.toLowerCase();
    fields.set(key, [...(fields.get(key) ?? []), value.trim()]);
  }
  return fields;
}

/** Returns the blocks of a part that blank lines separate. */
function blocksOf(part: string): Fields[] {
  return part
    .split(/(?:\r?\n[ \t]*){2,}/, RECIPIENTS_MAX + 1)
    .map(fieldsOf)
    .filter(({ size }) => size > 0);
}

/** RFC 3464: one block about the message, then one for each recipient. */
function recipientsOfStatus(mail: ParsedMail): ReportedRecipient[] | undefined {
  const parts = partsOf(mail, (type) => STATUS_TYPES.includes(type));
  if (parts.length === 0) return undefined;
  return parts.flatMap(blocksOf).flatMap((fields) => {
    const addresses = ['original-recipient', 'final-recipient'].flatMap((name) =>
      (fields.get(name) ?? []).map(addressOf),
    );
    if (addresses.length === 0) return [];
    const first = (name: string) => fields.get(name)?.[0];
    const outcome = returnOf(first('action'), first('status'), first('diagnostic-code'));
    return [{ addresses, outcome }];
  });
}

/** Returns the address of a field such as `rfc822; ada@example.com`. */
function addressOf(value: string): string {
  return bare(value.replace(/^[\w-]{1,40}\s*;/, '').replace(/\(.*$/, ''));
}

function bare(address: string): string {
  return address.trim().replace(/^<|>$/g, '').toLowerCase();
}

/** RFC 5965: a mailbox provider forwards what its user called unwanted, often without the user's address. */
function recipientsOfComplaint(mail: ParsedMail, returned: Fields): ReportedRecipient[] | undefined {
  const parts = partsOf(mail, (type) => type === COMPLAINT_TYPE);
  if (parts.length === 0) return undefined;
  return parts.flatMap((part) => {
    const fields = fieldsOf(part);
    const type = fields.get('feedback-type')?.[0]?.toLowerCase() ?? 'abuse';
    const named = fields.get('original-rcpt-to') ?? [];
    const addresses = named.length > 0 ? named : (returned.get('to') ?? []).flatMap((to) => to.split(','));
    const outcome: ReportedReturn = NO_COMPLAINTS.includes(type) ? { kind: 'none' } : { kind: 'complaint', text: type };
    return addresses.length > 0
      ? addresses
          .slice(0, RECIPIENTS_MAX)
          .map((address) => ({ addresses: [bare(address.replace(/^[^<]*</, '<'))], outcome }))
      : [{ addresses: [], outcome }];
  });
}

/** Exim and some others name the recipients in a header, and the reason in the text. */
function recipientsOfHeader({ headers }: ParsedMail, text: string): ReportedRecipient[] | undefined {
  const failed = headers?.get('x-failed-recipients');
  if (failed === undefined) return undefined;
  const reason = /\b[45]\d\d[ -].*(?:\r?\n[ \t]+\S.*)*/.exec(text)?.[0];
  const outcome = returnOf('failed', undefined, reason);
  return [failed].flat().flatMap((value) =>
    String(value)
      .split(',')
      .map((one) => ({ addresses: [bare(one)], outcome })),
  );
}

/** qmail writes paragraphs that begin with `<ADDRESS>:`, and old Exchange servers lines such as `ADDRESS on DATE`. */
function recipientsOfText(text: string): ReportedRecipient[] | undefined {
  const [report = ''] = text.split(/^-{3}/m, 1);
  if (/^\s*Hi\. This is the/.test(report)) {
    return report.split(/(?:\r?\n[ \t]*){2,}/).flatMap((paragraph) => {
      const [, address, reason] = /^<([^<>\s]+)>:\s*([\s\S]*)$/.exec(paragraph) ?? [];
      return address === undefined
        ? []
        : [{ addresses: [bare(address)], outcome: returnOf('failed', undefined, reason) }];
    });
  }
  const [, list] = report.split(/^did not reach the following recipient\(s\):/m, 2);
  return list?.split(/\r?\n(?=\S+@\S+ on )/).flatMap((entry) => {
    const [, address, reason] = /^\s*(\S+@\S+) on [^\n]*\n?([\s\S]*)$/.exec(entry) ?? [];
    return address === undefined
      ? []
      : [{ addresses: [bare(address)], outcome: returnOf('failed', undefined, reason) }];
  });
}

/** Returns the headers of the message that came back: of the part that has it, or of its copy in the text. */
function returnedHeaders(mail: ParsedMail, text: string): Fields {
  const [part] = partsOf(mail, (type) => RETURNED_TYPES.test(type));
  const [, copy = ''] = part === undefined ? text.split(/^-{3}.*$/m, 2) : [];
  return fieldsOf((part ?? copy).trimStart().split(/\r?\n\r?\n/, 1)[0] ?? '');
}

/** Return paths name a message for certain. Then comes the header of the message, then what the report answers. */
function messagesOf({ headerLines }: ParsedMail, returned: Fields): string[] {
  const own = (wanted: readonly string[]) => valuesOf(headerLines, wanted);
  const paths = [...own(DELIVERED_TO), ...(returned.get('return-path') ?? [])];
  const ids = [...(returned.get('message-id') ?? []), ...own(['in-reply-to', 'references'])];
  const found = [
    ...paths.flatMap((path) => [...path.matchAll(RETURN_PATH)].map(([, id = '']) => id.toLowerCase())),
    ...ids.flatMap((value) => value.match(MESSAGE_ID) ?? []),
  ];
  return [...new Set(found)].slice(0, NAMES_MAX);
}

function valuesOf(lines: HeaderLines, wanted: readonly string[]): string[] {
  return lines
    .filter(({ key }) => wanted.includes(key))
    .slice(0, NAMES_MAX)
    .map(({ line }) => line);
}
