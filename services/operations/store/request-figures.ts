// Reads the figures of requests: their rate and errors over time, and the operations that are slow or fail.
import { durationQuantile, REQUEST_CLASS_WIDTH } from '#libs/duration-classes.ts';
import { type Counts, findRequestFigures, LEFT, SPANS, type Span } from '#libs/models/operations/request-figures.ts';
import { SEARCH_LIMIT_MS } from './delivery-search.ts';

const MINUTE_MS = 60_000;

/** The number of requests, and of each way in which they ended. */
export interface RequestSums {
  requests: number;
  /** Responses to mistakes of the caller: 400 to 499. */
  refused: number;
  /** Responses to failures of Billhook: 500 to 599. */
  failed: number;
  /** Requests whose caller disconnected before the end of the response. */
  left: number;
  /** The time that half, and 95 %, of the answered requests took at most, within an eighth. Undefined when there were none. */
  p50: number | undefined;
  p95: number | undefined;
}

export interface RequestStep extends RequestSums {
  at: Date;
}

export interface OperationSums extends RequestSums {
  operation: string;
}

export interface CodeSums {
  code: string;
  requests: number;
  /** The operations with this error, the most frequent first. */
  operations: { operation: string; requests: number }[];
}

export interface RequestReading {
  total: RequestSums;
  steps: RequestStep[];
  /** The start of the records that operations and codes are summed from. */
  since: Date;
  operations: OperationSums[];
  /** Most frequent first. */
  codes: CodeSums[];
}

/** Reads the requests by step since then, and the sums over all of them. */
export async function readRequestSteps(span: Span, since: Date): Promise<Pick<RequestReading, 'steps' | 'total'>> {
  const records = await findRequestFigures(span, since, { maxTimeMS: SEARCH_LIMIT_MS });
  const counts = records.map(({ operations }) => Object.values(operations));
  const steps = records.map(({ at }, index) => ({ at, ...sumsOf(counts[index] ?? []) }));
  return { steps, total: sumsOf(counts.flat()) };
}

/** Reads all figures since then. @param span the length of a step. */
export async function readRequests(span: Span, since: Date): Promise<RequestReading> {
  const coarseMs = SPANS['ten-minutes'] * MINUTE_MS;
  const from = new Date(Math.floor(since.getTime() / coarseMs) * coarseMs);
  const [fine, coarse] = await Promise.all([
    readRequestSteps(span, since),
    findRequestFigures('ten-minutes', from, { maxTimeMS: SEARCH_LIMIT_MS }),
  ]);
  const byOperation = new Map<string, Counts[]>();
  for (const { operations } of coarse)
    for (const [operation, counts] of Object.entries(operations))
      byOperation.set(operation, [...(byOperation.get(operation) ?? []), counts]);
  const operations = [...byOperation].map(([operation, counts]) => ({ operation, ...sumsOf(counts) }));
  return { ...fine, since: coarse[0]?.at ?? from, operations, codes: codesOf(byOperation) };
}

function codesOf(byOperation: ReadonlyMap<string, Counts[]>): CodeSums[] {
  const rows = [...byOperation].flatMap(([operation, counts]) =>
    [...summed(counts.map(({ codes }) => codes))].map(([code, requests]) => ({ code, operation, requests })),
  );
  return [...Map.groupBy(rows, ({ code }) => code)]
    .map(([code, own]) => ({
      code,
      requests: own.reduce((sum, { requests }) => sum + requests, 0),
      operations: own.toSorted((one, other) => other.requests - one.requests),
    }))
    .toSorted((one, other) => other.requests - one.requests);
}

function sumsOf(counts: readonly Counts[]): RequestSums {
  const statuses = [...summed(counts.map(({ statuses }) => statuses))];
  const durations = [...summed(counts.map(({ ms }) => ms))].map(([each, count]) => [Number(each), count] as const);
  const ended = (isCounted: (status: string) => boolean) =>
    statuses.reduce((sum, [status, count]) => (isCounted(status) ? sum + count : sum), 0);
  return {
    requests: ended(() => true),
    refused: ended((status) => status.startsWith('4')),
    failed: ended((status) => status.startsWith('5')),
    left: ended((status) => status === LEFT),
    p50: durationQuantile(durations, 0.5, REQUEST_CLASS_WIDTH),
    p95: durationQuantile(durations, 0.95, REQUEST_CLASS_WIDTH),
  };
}

function summed(maps: readonly (Record<string, number> | undefined)[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const map of maps)
    for (const [key, count] of Object.entries(map ?? {})) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}
