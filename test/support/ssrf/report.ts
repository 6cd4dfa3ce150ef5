// The report of one layer on one vector: the number of attacks and all their effects.
import { setTimeout as pause } from 'node:timers/promises';
import type { Canaries } from './canaries.ts';
import type { NameServer } from './names.ts';

export interface LayerReport {
  /** The safeguard between the attack and its target. */
  layer: string;
  /** How it came in. */
  vector: string;
  attacks: number;
  /** Calls of a canary, as `address:port/path`; on the layer without any safeguard they prove that the canaries work. */
  hits: string[];
  /** Names asked for by a browser. */
  queries: string[];
  /** Documents with forbidden content. */
  leaks: string[];
  /** Answers other than a document without the image, or a refusal. */
  surprises: string[];
  seconds: number;
}

export interface Field {
  canaries: Canaries;
  names: NameServer | undefined;
  /** Holds SECRET, as does the environment of every service. */
  secretFile: string;
  folder: string;
  isFull: boolean;
  /** The short form: each wall of the browser meets another third of the attacks, and each address is delivered to in one of two schemes. */
  isSampled: boolean;
  say(report: LayerReport): void;
}

export const SECRET = 'canary-secret-5f1c7d';
/** Texts of the secret file and the environment, and others that belong to neither a document nor its reader. */
export const SECRETS = new RegExp(`${SECRET}|root:[x*]?:0:0|redis://|mongodb://|reached the inside`);
/** The same, and what a script would have written. */
export const LEAK = new RegExp(`${SECRETS.source}|scripted-42`);

function fillIn(text: string, id: string, { canaries, secretFile }: Field): string {
  return text
    .replaceAll('{at}', `http://127.0.0.1:${canaries.port}/${id}/`)
    .replaceAll('{c}', String(canaries.port))
    .replaceAll('{file}', secretFile);
}

const LIMIT_MS = 180_000;

export interface Attack {
  id: string;
  text: string;
}

/** Gives every attack a name that says where in the plan it stands: `e124-3` is the fourth string of entry 124. */
export function named<Item extends { entry: number }>(items: Item[], textOf: (item: Item) => string, field: Field) {
  const seen = new Map<number, number>();
  return items.map((item) => {
    const index = seen.get(item.entry) ?? 0;
    seen.set(item.entry, index + 1);
    const id = `e${item.entry}-${index}`;
    return { id, text: fillIn(textOf(item), id, field), item };
  });
}

/** A limit for every wait, of callers and of this test. */
async function limitOf(work: Promise<void>): Promise<void> {
  const over = new AbortController();
  void work.catch(() => undefined).then(() => over.abort());
  await pause(LIMIT_MS, undefined, { signal: over.signal }).catch(() => work);
  if (!over.signal.aborted) throw new Error(`no end within ${LIMIT_MS} ms`);
}

/** Runs attacks side by side. @returns a report with every call of a canary meanwhile; the path of a call names its attack where the attack could choose it. */
export async function tryAll<Item>(
  field: Field,
  about: { layer: string; vector: string; atOnce: number },
  items: Item[],
  attempt: (item: Item, report: LayerReport) => Promise<void>,
  idOf: (item: Item) => string,
): Promise<LayerReport> {
  const startedAt = performance.now();
  const { layer, vector, atOnce } = about;
  const report: LayerReport = {
    layer,
    vector,
    attacks: items.length,
    hits: [],
    queries: [],
    leaks: [],
    surprises: [],
    seconds: 0,
  };
  const queue = items.values();
  const before = field.canaries.hits.length;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of queue) {
        const end = attempt(item, report);
        await Promise.race([end, limitOf(end)]).catch((error: unknown) =>
          report.surprises.push(`${idOf(item)}: ${String(error)}`),
        );
      }
    }),
  );
  const hits = field.canaries.hits.slice(before);
  report.hits.push(...hits.map(({ at, path }) => `${at}${path ?? ''}`));
  report.seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  return report;
}
