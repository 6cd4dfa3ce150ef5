// The requests that all gateways answered: by minute in all, and by ten minutes for each operation. A record holds counts only, so its
// size does not grow with the number of requests.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { durationClass, REQUEST_CLASS_WIDTH } from '../../duration-classes.ts';

const MINUTE_MS = 60_000;
const KEPT_SECONDS = 2 * 24 * 3600;

/** The lengths of time that one record stands for, in minutes. */
export const SPANS = { minute: 1, 'ten-minutes': 10 } as const;
export type Span = keyof typeof SPANS;

/** Stands for all operations in the records of minutes. */
const ALL = 'all';
/** Requests that are no operation of the reference: its own pages, unknown paths and methods. */
export const NO_OPERATION = 'none';
/** The status of a request whose caller disconnected before the end of the response. */
export const LEFT = 'left';

const figuresSchema = new Schema(
  {
    /** `<span>/<start>`, so that all gateways add to the same record. */
    _id: { type: String, required: true },
    span: { type: String, enum: Object.keys(SPANS), required: true },
    /** The start of the span. */
    at: { type: Date, required: true },
    /** Counts by operation, see Counts. */
    operations: { type: Object, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'request_figures' },
);
figuresSchema.index({ span: 1, at: 1 });
figuresSchema.index({ at: 1 }, { expireAfterSeconds: KEPT_SECONDS });

/** The requests of one operation. */
export interface Counts {
  /** By status of the response, or LEFT. */
  statuses: Record<string, number>;
  /** By code of the error. */
  codes?: Record<string, number>;
  /** By class of their duration, see duration-classes.ts. Requests whose caller left have none. */
  ms?: Record<string, number>;
}

export type RequestFiguresRecord = Omit<InferSchemaType<typeof figuresSchema>, 'operations'> & {
  operations: Record<string, Counts>;
};

export const RequestFigures = model('RequestFigures', figuresSchema);

export interface EndedRequest {
  /** Its name in the reference. Undefined for a request that is no operation. */
  operation?: string | undefined;
  status: number;
  /** False when the caller disconnected before the end of the response. */
  isAnswered: boolean;
  /** The code of the error. */
  code?: string | undefined;
  ms: number;
}

/** The minutes that wait while MongoDB is unavailable. Older ones are dropped, because memory is bounded. */
const WAITING_MINUTES_MAX = 60;

export interface RequestCounter {
  /** Counts a request. It costs a few additions in memory. */
  count(request: EndedRequest, now?: number): void;
  /** Writes what was counted since the last call. @throws when MongoDB is unavailable; the counts stay for the next call. */
  flush(): Promise<void>;
}

/** The increments of one minute, by path in the record: `listClients.statuses.200`. */
type Increments = Map<string, number>;

export function openRequestCounter(): RequestCounter {
  let minutes = new Map<number, Increments>();

  function add(at: number, path: string, by: number) {
    let increments = minutes.get(at);
    if (!increments) {
      increments = new Map();
      minutes.set(at, increments);
      const [oldest] = minutes.keys();
      if (minutes.size > WAITING_MINUTES_MAX && oldest !== undefined) minutes.delete(oldest);
    }
    increments.set(path, (increments.get(path) ?? 0) + by);
  }

  return {
    count({ operation = NO_OPERATION, status, isAnswered, code, ms }, now = Date.now()) {
      const at = Math.floor(now / MINUTE_MS) * MINUTE_MS;
      add(at, `${operation}.statuses.${isAnswered ? status : LEFT}`, 1);
      if (code) add(at, `${operation}.codes.${code}`, 1);
      if (isAnswered) add(at, `${operation}.ms.${durationClass(ms, REQUEST_CLASS_WIDTH)}`, 1);
    },
    async flush() {
      const taken = minutes;
      minutes = new Map();
      const updates = [...taken].flatMap(([at, increments]) => [
        updateOf('minute', at, inAll(increments)),
        updateOf('ten-minutes', at, increments),
      ]);
      if (updates.length === 0) return;
      try {
        await RequestFigures.collection.bulkWrite(updates as never, { ordered: false });
      } catch (error) {
        for (const [at, increments] of taken) for (const [path, by] of increments) add(at, path, by);
        throw error;
      }
    },
  };
}

/** Returns the increments of all operations together, without the codes of errors. */
function inAll(increments: Increments): Increments {
  const all: Increments = new Map();
  for (const [path, by] of increments) {
    const [, kind, key] = path.split('.');
    if (kind !== 'codes') all.set(`${ALL}.${kind}.${key}`, (all.get(`${ALL}.${kind}.${key}`) ?? 0) + by);
  }
  return all;
}

function updateOf(span: Span, minute: number, increments: Increments) {
  const lengthMs = SPANS[span] * MINUTE_MS;
  const at = new Date(Math.floor(minute / lengthMs) * lengthMs);
  const $inc = Object.fromEntries([...increments].map(([path, by]) => [`operations.${path}`, by]));
  const update = { $setOnInsert: { span, at }, $inc };
  return { updateOne: { filter: { _id: `${span}/${at.toISOString().slice(0, 16)}` }, update, upsert: true } };
}

/** Returns the records of a span that begin at `since` or later, oldest first. Spans without a request are absent. */
export async function findRequestFigures(
  span: Span,
  since: Date,
  limits: { maxTimeMS: number },
): Promise<RequestFiguresRecord[]> {
  return RequestFigures.find({ span, at: { $gte: since } })
    .sort({ at: 1 })
    .maxTimeMS(limits.maxTimeMS)
    .lean<RequestFiguresRecord[]>();
}
