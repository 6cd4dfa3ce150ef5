// Five times as many requests as can be printed: how many are printed all the same, and how soon the others get 503 with Retry-After.
import { median } from 'es-toolkit/math/median';
import { PDF_TOOL } from './pdf-caller.ts';
import { invoiceOf } from './pdf-floor.ts';
import { type PdfSystem, together } from './pdf-system.ts';
import { progress } from './progress.ts';
import { openRawCaller, type RawAnswer } from './raw-caller.ts';
import { type Row, row } from './rows.ts';

const TIMES = 5;
const ROUNDS = 3;
/** Enough that the share of one account in flight limits none of them. */
const ACCOUNTS = 48;
const CAPACITY_CALLERS = 16;
const CAPACITY_DOCUMENTS = 600;
/** Until the queue is full; not counted. */
const SETTLE_MS = 4_000;
const COUNTED_MS = 8_000;
const STEP_MS = 20;
const REFUSAL_MS = 150;
const RETRY_AFTER_MAX_SECONDS = 32;

export async function overload(system: PdfSystem): Promise<Row[]> {
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => system.workspace.account()));
  const keys = accounts.map(({ key }) => key);
  const body = Buffer.from(JSON.stringify(invoiceOf(8)));
  const caller = openRawCaller(system.gateway.url, PDF_TOOL, body);
  const post = (turn: number) => caller.post(keys[turn % ACCOUNTS] ?? '');

  progress('documents: capacity');
  const capacities = [await capacityOf(post)];
  const floods: Awaited<ReturnType<typeof floodWith>>[] = [];
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const requests = (capacities.at(-1) ?? 0) * TIMES;
      progress(`documents: ${Math.round(requests)} requests per second, round ${round} of ${ROUNDS}`);
      floods.push(await floodWith(post, requests));
      progress('documents: capacity once more');
      capacities.push(await capacityOf(post));
    }
  } finally {
    caller.close();
  }
  const capacity = median(capacities);
  const printedPerSecond = median(floods.map((flood) => flood.printedPerSecond));
  const refusedMs = floods.flatMap((flood) => flood.refusedMs);
  const waitsSeconds = floods.flatMap((flood) => flood.waitsSeconds);
  const retryAfters = floods.flatMap((flood) => flood.retryAfters);
  const isHonest = retryAfters.every((seconds) => seconds >= 1 && seconds <= RETRY_AFTER_MAX_SECONDS);
  const p99 = quantile(refusedMs, 0.99);
  const told = median(retryAfters);
  const failures = floods.flatMap((flood) => flood.failures);
  for (const [failure, times] of countsOf(failures)) process.stderr.write(`flood: ${times} × ${failure}\n`);
  return [
    row('PDF at five times the capacity, printed', '/s', printedPerSecond, capacity, ['≥', 0.85]),
    {
      ...row('… refusals, p99', 'ms', p99, REFUSAL_MS),
      target: `≤ ${REFUSAL_MS} ms`,
      pass: p99 <= REFUSAL_MS,
    },
    {
      ...row('… Retry-After beside the wait of those let in', 's', told, median(waitsSeconds)),
      target: 'no less',
      pass: isHonest && told >= median(waitsSeconds),
    },
    {
      ...row('… requests with neither a PDF nor a 503', '', failures.length, sum(floods.map(({ asked }) => asked))),
      target: '0',
      pass: failures.length === 0,
    },
  ];
}

type Post = (turn: number) => Promise<RawAnswer>;

async function capacityOf(post: Post): Promise<number> {
  const tookMs = await together(CAPACITY_CALLERS, CAPACITY_DOCUMENTS, async (caller) => {
    const { status } = await post(caller);
    if (status !== 200) throw new Error(`the PDF tool answered ${status}`);
  });
  return CAPACITY_DOCUMENTS / (tookMs / 1_000);
}

/** Sends requests at a steady pace, whatever becomes of those before. A failed one is counted: it must not cost the rows of the others. */
async function floodWith(post: Post, perSecond: number) {
  const refusedMs: number[] = [];
  const retryAfters: number[] = [];
  const waitsSeconds: number[] = [];
  const failures: string[] = [];
  const pending = new Set<Promise<unknown>>();
  const startedAt = performance.now();
  const isCounted = (at: number) => at - startedAt >= SETTLE_MS && at - startedAt < SETTLE_MS + COUNTED_MS;
  let printed = 0;

  async function ask(turn: number) {
    const askedAt = performance.now();
    const { status, retryAfterSeconds } = await post(turn);
    const answeredAt = performance.now();
    if (status !== 200 && status !== 503) throw new Error(`answered ${status}`);
    if (!isCounted(answeredAt)) return;
    if (status === 200) {
      printed += 1;
      waitsSeconds.push((answeredAt - askedAt) / 1_000);
    } else {
      refusedMs.push(answeredAt - askedAt);
      retryAfters.push(retryAfterSeconds);
    }
  }

  let asked = 0;
  while (performance.now() - startedAt < SETTLE_MS + COUNTED_MS) {
    for (; asked < ((performance.now() - startedAt) / 1_000) * perSecond; asked += 1) {
      const asking: Promise<unknown> = ask(asked)
        .catch((error: Error) => failures.push(error.message))
        .finally(() => pending.delete(asking));
      pending.add(asking);
    }
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  await Promise.all(pending);
  return { asked, printedPerSecond: printed / (COUNTED_MS / 1_000), refusedMs, waitsSeconds, retryAfters, failures };
}

function countsOf(texts: readonly string[]): [string, number][] {
  return [...Map.groupBy(texts, (text) => text)].map(([text, { length }]) => [text, length]);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
