// Estimates how long a document waits from how long earlier documents took.

/** The weight that earlier measurements keep with each further document. */
const MEMORY = 0.95;

/** A document that came as the n-th and took t says that the renderers do n in t. Long queues say it best, and weigh most. */
export function openMeasure() {
  let documents = 0;
  let spentMs = 0;
  return {
    averageMs: () => (documents > 0 ? spentMs / documents : 0),
    add(position: number, tookMs: number) {
      documents = documents * MEMORY + position;
      spentMs = spentMs * MEMORY + tookMs;
    },
  };
}
