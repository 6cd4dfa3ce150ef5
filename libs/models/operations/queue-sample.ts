// The length of each queue per minute, for the charts of the operations dashboard.
import { type InferSchemaType, model, Schema } from 'mongoose';

const MINUTE_MS = 60_000;
const KEPT_SECONDS = 3 * 24 * 3600;

const sampleSchema = new Schema(
  {
    /** `<queue>/<minute>`, so that all dashboard processes write into the same record. */
    _id: { type: String, required: true },
    queue: { type: String, required: true },
    /** The start of the minute. */
    at: { type: Date, required: true },
    /** The highest value of the minute. The same holds for the next fields. */
    ready: { type: Number, required: true },
    active: { type: Number, required: true },
    age_ms: { type: Number, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'queue_samples' },
);
sampleSchema.index({ queue: 1, at: 1 });
sampleSchema.index({ at: 1 }, { expireAfterSeconds: KEPT_SECONDS });

export type QueueSampleRecord = InferSchemaType<typeof sampleSchema>;

export const QueueSample = model('QueueSample', sampleSchema);

export interface NewSample {
  queue: string;
  ready: number;
  active: number;
  ageMs: number;
}

/** Raises the minute's records to these numbers. */
export async function recordSamples(samples: NewSample[], now: Date = new Date()): Promise<void> {
  const at = new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS);
  await QueueSample.bulkWrite(
    samples.map(({ queue, ready, active, ageMs }) => ({
      updateOne: {
        filter: { _id: `${queue}/${at.toISOString().slice(0, 16)}` },
        update: { $setOnInsert: { queue, at }, $max: { ready, active, age_ms: ageMs } },
        upsert: true,
      },
    })),
    // A minute of a chart does not need a majority write, and two processes that insert the same minute at once may
    // collide.
    { ordered: false, writeConcern: { w: 1 } },
  );
}

/** Returns the samples of the queue since then, oldest first. Minutes in which no dashboard ran are absent. */
export async function findSamples(queue: string, since: Date): Promise<QueueSampleRecord[]> {
  return QueueSample.find({ queue, at: { $gte: since } })
    .sort({ at: 1 })
    .lean<QueueSampleRecord[]>();
}

/** Returns the minute of the first sample of any queue since then. Undefined when there is none. */
export async function findFirstSample(since: Date): Promise<Date | undefined> {
  const found = await QueueSample.findOne({ at: { $gte: since } })
    .sort({ at: 1 })
    .select({ at: 1 })
    .lean<Pick<QueueSampleRecord, 'at'>>();
  return found?.at;
}
