// Samples the length of every queue four times a minute, for the charts of the dashboard.
import { catalog } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { recordSamples } from '#libs/models/operations/queue-sample.ts';
import type { Logger } from '#libs/service/logger.ts';
import { startPollingLoop } from '#libs/service/polling-loop.ts';

const STEP_MS = 15_000;

/** Starts to sample. @returns a function that stops it. */
export function startSampler(queues: Queues, log: Logger): () => Promise<void> {
  const work = async () => {
    await sample(queues);
    return false;
  };
  return startPollingLoop(work, { name: 'the sampler of queues', everyMs: STEP_MS, log }).stop;
}

export async function sample(queues: Queues): Promise<void> {
  const samples = await Promise.all(
    catalog.map(async (definition) => {
      const [counts, ageMs] = await Promise.all([queues.counts(definition), queues.oldestAgeMs(definition)]);
      return { queue: definition.name, ready: counts.ready, active: counts.active, ageMs };
    }),
  );
  await recordSamples(samples);
}
