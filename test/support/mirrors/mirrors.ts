// Two copies of an account's records as callers keep them: one made of events alone, one of lists with `updated_since` alone.
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { EVENT_TYPES, nounOf } from '#libs/models/webhooks/event-types.ts';
import { eventCatalogue } from '#libs/responses/event-catalogue.ts';
import { isList } from '../../../services/gateway/http/route.ts';
import type { Verbs } from '../gateway.ts';
import type { AnyRecord } from '../records.ts';
import { parametersOf, routeTable } from '../route-table.ts';

interface Mirrored {
  path: string;
  /** The part before the dot of the types of events that carry such a record. */
  noun: string;
}

/** No event says that a message is queued: events tell its outcome. docs/mail.md says so. */
const BY_LISTS_ALONE = ['/api/v1/messages'];

/** Every resource whose list says what changed; the event catalogue knows which events carry its records. */
export const MIRRORED: readonly Mirrored[] = routeTable
  .filter(
    (row) =>
      isList(row) &&
      !BY_LISTS_ALONE.includes(row.path) &&
      !row.path.includes('{') &&
      'updated_since' in parametersOf(row),
  )
  .map(({ path, docs }) => {
    const entry = eventCatalogue().find(({ data }) => data === docs.response);
    if (!entry) throw new Error(`no event carries the records of ${path}`);
    return { path, noun: nounOf(entry.type) };
  });

/** Events of these nouns do not carry the whole record. */
const PARTIAL = ['payment.recorded'];
const GONE = EVENT_TYPES.filter((type) => type.endsWith('.deleted') || type === 'timer.discarded');

/**
 * Records shown inside of others. Their own events carry their changes, so that a mirror joins them by id. docs/webhooks.md and the
 * guide of lists say so.
 */
const EMBEDDED = ['client', 'project', 'task', 'invoice', 'last_invoice', 'quote'];

/** The paths whose records say in `billing` what became of them. */
const WORK = ['/api/v1/time-entries', '/api/v1/expenses'];

/** The values of `billing` of work that is on no invoice and not settled. docs/behaviour.md names what they follow from. */
const OPEN = ['unbilled', 'covered', 'not_billable'];

type Records = Map<string, AnyRecord>;

/** Reads what changed since the last call, as a caller that polls does. */
export class ListMirror {
  readonly #gateway: Verbs;
  readonly #key: string;
  readonly #seen = new Map<string, string>();
  readonly records = new Map<string, Records>(MIRRORED.map(({ path }) => [path, new Map()]));

  constructor(gateway: Verbs, key: string) {
    this.#gateway = gateway;
    this.#key = key;
  }

  async poll(): Promise<void> {
    for (const { path } of MIRRORED) {
      const since = this.#seen.get(path);
      const changed = await readList(this.#gateway, this.#key, path, since ? `&updated_since=${since}` : '');
      for (const record of changed) this.records.get(path)?.set(record.id, record);
      const last = changed.at(-1);
      if (last) this.#seen.set(path, last.updated_at);
    }
  }
}

/** Reads the events since the last call, as a receiver gets them. */
export class EventMirror {
  readonly #gateway: Verbs;
  readonly #key: string;
  #after = 0;
  readonly records = new Map<string, Records>(MIRRORED.map(({ path }) => [path, new Map()]));

  constructor(gateway: Verbs, key: string) {
    this.#gateway = gateway;
    this.#key = key;
  }

  async poll(): Promise<void> {
    for (;;) {
      const { body } = await this.#gateway.get(`/api/v1/events?limit=100&after=${this.#after}`, { key: this.#key });
      for (const event of body.data as AnyRecord[]) this.#take(event);
      if (body.data.length === 0) return;
    }
  }

  #take({ type, data, sequence }: AnyRecord): void {
    this.#after = sequence;
    const mirrored = MIRRORED.find(({ noun }) => noun === nounOf(type));
    if (!mirrored || PARTIAL.includes(type)) return;
    const records = this.records.get(mirrored.path);
    if (GONE.includes(type)) records?.delete(data.id);
    else records?.set(data.id, data);
  }
}

/**
 * A sentence for each field in which a mirror, or the single read of a record, differs from what its list answers now.
 * @param readsSingly also reads each record by itself.
 */
export async function differences(
  gateway: Verbs,
  key: string,
  mirrors: Readonly<Record<string, ReadonlyMap<string, Records>>>,
  { readsSingly }: { readsSingly: boolean },
): Promise<string[]> {
  const found: string[] = [];
  for (const { path } of MIRRORED) {
    const records = await readList(gateway, key, path);
    for (const record of records) {
      const single = readsSingly ? { single: (await gateway.get(`${path}/${record.id}`, { key })).body.data } : {};
      const copies = { ...single, ...pickRecord(mirrors, path, record.id) };
      for (const [name, copy] of Object.entries(copies)) {
        const joined = name === 'single' ? copy : withBilling(path, copy, mirrors[name]);
        found.push(...otherFields(`${name} of ${path}`, record, joined));
      }
    }
    const extra = [...(mirrors['events']?.get(path)?.keys() ?? [])].filter(
      (id) => !records.some((one) => one.id === id),
    );
    found.push(...extra.map((id) => `events of ${path}: ${id} does not exist`));
  }
  return found;
}

function pickRecord(mirrors: Readonly<Record<string, ReadonlyMap<string, Records>>>, path: string, id: string) {
  return Object.fromEntries(Object.entries(mirrors).map(([name, mirror]) => [name, mirror.get(path)?.get(id)]));
}

/** The `billing` of open work follows from its own `billable` and the `billing` of its project, which has events of its own. */
function withBilling(
  path: string,
  copy: AnyRecord | undefined,
  mirror: ReadonlyMap<string, Records> | undefined,
): AnyRecord | undefined {
  if (!copy || !WORK.includes(path) || !OPEN.includes(copy['billing'])) return copy;
  const project = mirror?.get('/api/v1/projects')?.get(copy['project']?.id);
  if (!copy['billable'] || project?.['billing'] === 'none') return { ...copy, billing: 'not_billable' };
  const isCovered = path === '/api/v1/time-entries' && project?.['billing'] === 'fixed';
  return { ...copy, billing: isCovered ? 'covered' : 'unbilled' };
}

function otherFields(what: string, record: AnyRecord, copy: AnyRecord | undefined): string[] {
  if (!copy) return [`${what}: ${record.id} is missing`];
  const names = new Set([...Object.keys(record), ...Object.keys(copy)]);
  return [...names].flatMap((name) => {
    const [now, then] = [record, copy].map((one) => joined(name, one[name]));
    return isEqual(now, then) ? [] : [`${what}: ${name} is ${JSON.stringify(now)}, not ${JSON.stringify(then)}`];
  });
}

/** An embedded record counts as its id. */
function joined(name: string, value: unknown): unknown {
  if (!EMBEDDED.includes(name) || typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(({ id }) => id).toSorted() : (value as AnyRecord).id;
}

async function readList(gateway: Verbs, key: string, path: string, query = ''): Promise<AnyRecord[]> {
  const records: AnyRecord[] = [];
  for (;;) {
    const at = `${path}?sort=updated_at&limit=100&offset=${records.length}${query}`;
    const { status, body } = await gateway.get(at, { key });
    if (status !== 200) throw new Error(`${at}: ${status} ${JSON.stringify(body)}`);
    records.push(...body.data);
    if (body.data.length < 100) return records;
  }
}
