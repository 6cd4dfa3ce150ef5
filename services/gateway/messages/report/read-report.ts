// Reads a raw delivery report in a thread of its own, a few at a time: anybody can send one to a return path.
import { fieldProblem } from '#libs/errors.ts';
import { inSlot, openFairLimit } from '#libs/fair-limit.ts';
import { runInThread } from '#libs/in-thread.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { DeliveryReport } from './parse-report.ts';

/** Bytes of a report: servers return the whole mail with its attachment, or its headers. */
export const REPORT_BYTES_MAX = 4 * 2 ** 20;

/** Reports that are read at a time, by all accounts. */
const slots = openFairLimit(2);
/** A usual report takes a quarter of a second, most of which is the start of the thread. */
const TIME_LIMIT_MS = 10_000;
const MEMORY_MB = 128;
const PROGRAM = new URL('report-worker.ts', import.meta.url);

/** @throws AppError 400 for bytes that are no report, or name no message. */
export async function readReport(accountId: Id, bytes: Uint8Array, signal: AbortSignal): Promise<DeliveryReport> {
  const limits = { timeMs: TIME_LIMIT_MS, memoryMb: MEMORY_MB, signal };
  const read = () => runInThread<{ report: DeliveryReport | undefined }>(PROGRAM, bytes, limits);
  const outcome = await inSlot(slots, accountId, read, signal);
  if (outcome === 'too costly') throw fieldProblem('body', 'report_too_costly');
  const { report } = outcome;
  if (!report) throw fieldProblem('body', 'report_unreadable');
  if (report.messages.length === 0) throw fieldProblem('body', 'report_without_message');
  return report;
}
