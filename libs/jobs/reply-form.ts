// The encoding of a reply in Redis: one line of JSON, then the raw bytes. Base64 would make them a third larger.
import type { Params } from '../errors.ts';

export interface ReplyFailure {
  status: number;
  message: string;
  /** Absent in the reply of an older renderer. */
  code?: string;
  params?: Params;
}

export interface Reply {
  bytes: Buffer;
  /** Warnings for the caller, sent in headers, such as images that could not be fetched. */
  warnings: string[];
  /** The time that the document waited without keeping a renderer busy. */
  offSlotMs?: number;
  /** The time that it kept a page of the browser busy. */
  printMs?: number;
}

const LINE_END = 0x0a;

/** Encodes a reply or a failure for Redis. */
export function encodeReply(reply: Reply | ReplyFailure): Buffer {
  if (!('bytes' in reply)) return Buffer.from(`${JSON.stringify(reply)}\n`);
  const { bytes, ...head } = reply;
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]);
}

/** Decodes a reply. @param value made by encodeReply. The bytes of the reply are a view of it, not a copy. */
export function decodeReply(value: Buffer): Reply | ReplyFailure {
  const end = value.indexOf(LINE_END);
  const head = JSON.parse(value.toString('utf8', 0, end)) as Omit<Reply, 'bytes'> | ReplyFailure;
  return 'warnings' in head ? { bytes: value.subarray(end + 1), ...head } : head;
}

/** Reads a notice: the job's id, followed by the reply when that is small. */
export function readNotice(notice: Buffer): { id: string; value: Buffer | undefined } {
  const end = notice.indexOf(LINE_END);
  return {
    id: notice.toString('latin1', 0, end),
    value: end + 1 < notice.length ? notice.subarray(end + 1) : undefined,
  };
}
