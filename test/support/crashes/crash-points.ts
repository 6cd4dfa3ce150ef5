// The points at which a service can be killed: before or after a command that a transaction sends to the database.

/** The environment variable that names the point. */
export const CRASH_AT = 'LAB_CRASH_AT';
/** Begins the line that lists the steps of a committed transaction. */
export const STEPS_OF = 'steps of a transaction: ';

export interface CrashPoint {
  when: 'before' | 'after';
  /** Such as `insert invoices`, `commitTransaction`, or `#3` for the third command. */
  step: string;
  /** The transaction of the process, from 1. Any of them unless given. */
  of?: number | undefined;
}

/** The steps that every write of a document has, in their order. */
export const CRASH_POINTS: readonly CrashPoint[] = [
  { when: 'after', step: 'findAndModify counters' },
  { when: 'after', step: 'insert numbers' },
  { when: 'after', step: 'insert idempotency_records' },
  { when: 'before', step: 'insert events' },
  { when: 'after', step: 'insert events' },
  { when: 'before', step: 'commitTransaction' },
  { when: 'after', step: 'commitTransaction' },
];

export function nameOf({ when, step, of }: CrashPoint): string {
  return `${when} ${step}${of === undefined ? '' : ` of ${of}`}`;
}

/** Variables for a service that dies at the point; without one, for a service that prints the steps of its transactions. */
export function watchedService(point?: CrashPoint): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${import.meta.resolve('./crash-preload.ts')}`,
    ...(point ? { [CRASH_AT]: nameOf(point) } : {}),
  };
}

export function parseCrashPoint(text: string | undefined): CrashPoint | undefined {
  const [, when, step, of] = /^(before|after) (.+?)(?: of (\d+))?$/.exec(text ?? '') ?? [];
  if (text !== undefined && step === undefined) throw new Error(`${CRASH_AT} is no crash point: ${text}`);
  return step === undefined
    ? undefined
    : { when: when as CrashPoint['when'], step, of: of === undefined ? undefined : Number(of) };
}

/** @param command as the driver sends it: its first field names the collection. */
export function stepOf(name: string, command: Record<string, unknown>): string {
  const collection = command[name];
  return typeof collection === 'string' ? `${name} ${collection}` : name;
}

/** @returns the steps of each transaction that a watched service committed so far. */
export function stepsIn(output: string): string[][] {
  return output
    .split('\n')
    .filter((line) => line.startsWith(STEPS_OF))
    .map((line) => JSON.parse(line.slice(STEPS_OF.length)) as string[]);
}
