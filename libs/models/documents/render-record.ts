// The outcome of each requested document: the facts that an operator searches for, never the document itself.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { driverOf, type Owned } from '../records.ts';
import { type Id, idField, newId, requiredIdField, storedId, tenant } from '../tenant.ts';

/**
 * `refused`: a fault of the caller (4xx). `failed`: a fault of Billhook (5xx). `expired`: not ready at its deadline.
 * `cancelled`: the caller disconnected.
 */
export const RENDER_STATUSES = ['done', 'refused', 'failed', 'expired', 'cancelled'] as const;
export type RenderStatus = (typeof RENDER_STATUSES)[number];

const KEPT_SECONDS = 30 * 24 * 3600;

const renderSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    request_id: { type: String, required: true },
    status: { type: String, required: true, enum: RENDER_STATUSES },
    /** The time from the request to its response, as the caller saw it. */
    duration_ms: { type: Number, required: true },
    /** `Invoice` or `Quote`. */
    title: String,
    size_bytes: Number,
    /** The kind of failure in a few words without data of the caller, so that equal failures can be counted. */
    error_class: String,
    /** Images that could not be fetched, as in X-Document-Warnings. */
    warnings: { type: [String], default: undefined },
    created_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'render_records' },
);
renderSchema.plugin(tenant);
renderSchema.index({ created_at: 1 }, { expireAfterSeconds: KEPT_SECONDS });
renderSchema.index({ account_id: 1, created_at: -1 });
renderSchema.index({ request_id: 1 });

export type RenderRecord = InferSchemaType<typeof renderSchema>;

export const Render = model('RenderRecord', renderSchema);

export interface NewRender {
  accountId: Id;
  requestId: string;
  status: RenderStatus;
  durationMs: number;
  title?: string | undefined;
  sizeBytes?: number | undefined;
  errorClass?: string | undefined;
  warnings?: string[] | undefined;
}

/**
 * The interval of writes. One write takes all outcomes of that time, because a record must not cost a request anything.
 */
const FLUSH_MS = 500;
/**
 * The most records that wait while MongoDB is unavailable. Newer ones are dropped, because memory is bounded and a
 * record is dispensable.
 */
const WAITING_MAX = 10_000;
const CLASS_LONGEST = 200;

const waiting: Owned[] = [];
let timer: NodeJS.Timeout | undefined;

/** Records the outcome of a document. Returns at once and never throws; the record is in MongoDB within about a second. */
export function recordRender(render: NewRender): void {
  if (waiting.length >= WAITING_MAX) return;
  const record = {
    _id: storedId(newId()),
    account_id: storedId(render.accountId),
    request_id: render.requestId,
    status: render.status,
    duration_ms: Math.round(render.durationMs),
    // The time of the request.
    created_at: new Date(Date.now() - render.durationMs),
    ...(render.title ? { title: render.title } : {}),
    ...(render.sizeBytes === undefined ? {} : { size_bytes: render.sizeBytes }),
    ...(render.errorClass ? { error_class: render.errorClass.slice(0, CLASS_LONGEST) } : {}),
    ...(render.warnings?.length ? { warnings: render.warnings } : {}),
  };
  waiting.push(record);
  timer ??= setTimeout(() => void flushRenderRecords(), FLUSH_MS).unref();
}

/**
 * Writes the waiting records. Call it before MongoDB is closed. It never throws, because a lost record must not fail a
 * document.
 */
export async function flushRenderRecords(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  const records = waiting.splice(0);
  if (records.length === 0) return;
  await driverOf(Render)
    .insertMany(records, { ordered: false })
    .catch(() => undefined);
}
