// Every parameter of every list: each of its values asks the database for something of its own, and names fields that the records have.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { memoize } from 'es-toolkit/function/memoize';
import mongoose from 'mongoose';
import { isList } from '../../../services/gateway/http/route.ts';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { kindOf, make } from '../../support/operations.ts';
import { asked, type Command } from '../../support/plans.ts';
import { parametersOf, routeTable, type Shape } from '../../support/route-table.ts';

const lists = routeTable.filter(isList);
const PAGING = new Set(['limit', 'offset', 'after', 'sort']);
/** Values of parameters whose form allows no others of its own choice. */
const VALUES: Record<string, string[]> = {
  'listProjects status': ['In Progress', 'Complete'],
};
/** Two values of each form. */
const FORMS: Record<string, string[]> = {
  uuid: ['018f4b2e-0000-7000-8000-000000000001', '018f4b2e-0000-7000-8000-000000000002'],
  day: ['2026-01-01', '2026-02-01'],
  instant: ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
  boolean: ['true', 'false'],
  name: ['one', 'two'],
  line: ['one', 'two'],
};

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test.each(
  sampled(lists, 12).flatMap((row) =>
    Object.entries(parametersOf(row)).flatMap(([name, shape]) =>
      PAGING.has(name) ? [] : [[row.operation, name, shape, row.path] as const],
    ),
  ),
)(
  'when %s is given %s, then each of its values asks for something else than the others, and than none',
  async (operation, name, shape, path) => {
    const values = VALUES[`${operation} ${name}`] ?? valuesOf(shape);
    const queries = ['', ...values.map((value) => `${name}=${encodeURIComponent(value)}`)];
    const known = new Map<string, string>();
    for (const query of queries) {
      const commands = await commandsOf(path, query);
      const text = JSON.stringify(commands);
      expect([query, known.get(text)]).toEqual([query, undefined]);
      known.set(text, query);
      expect([query, unknownFields(commands)]).toEqual([query, []]);
    }

    expect(queries.length).toBeGreaterThan(2);
  },
);

test.each(
  sampled(lists, 12).flatMap((row) => {
    const { sort } = parametersOf(row);
    return sort ? [[row.operation, sort.allow ?? [], row.path] as const] : [];
  }),
)('when %s is sorted, then each key is an order of its own by a field of the records', async (_, keys, path) => {
  const orders = new Set<string>();
  for (const key of keys) {
    const commands = (await commandsOf(path, `sort=${String(key)}`)).filter((command) => command.sort);
    orders.add(JSON.stringify(commands.map((command) => command.sort)));
    expect([key, commands.length > 0, unknownFields(commands)]).toEqual([key, true, []]);
  }

  expect(orders.size).toBe(keys.length);
});

/** All values of a form that lists them, else two. @throws for a form that has none here. */
function valuesOf({ type, allow, rules = [], flags }: Shape): string[] {
  if (flags?.only) return (allow ?? []).map(String);
  // One of several with commas between them.
  const several = /\(\?:([^)]+)\)/.exec(rules.map(({ args }) => String(args?.regex ?? '')).join())?.[1]?.split('|');
  const values = several ? [...several, several.slice(0, 2).join(',')] : FORMS[type];
  if (!values) throw new Error(`give two values of ${type}`);
  return values;
}

/** Returns the commands that a list sends to the database. */
async function commandsOf(path: string, query: string): Promise<Command[]> {
  const id = path.includes('{id}') ? await recordOf(kindOf(path)) : '';
  return asked(async () => {
    const reply = await gateway.get(`${path.replace('{id}', id)}?${query}`);
    expect([query, reply.status]).toEqual([query, 200]);
  });
}

const recordOf = memoize((kind: string) => make(gateway, kind, gateway.account, 'own-'));

/** Returns the fields that the commands find or sort by and no schema of the collection has. */
function unknownFields(commands: Command[]): string[] {
  return commands.flatMap(({ collection, filter, sort }) => {
    const model = Object.values(mongoose.models).find((one) => one.collection.name === collection);
    // Not the stages of a pipeline, which make fields.
    const names = [...(Array.isArray(filter) ? [] : fieldsIn(filter)), ...Object.keys(sort ?? {})];
    return names.filter((name) => model && !model.schema.path(name)).map((name) => `${collection}.${name}`);
  });
}

function fieldsIn(filter: unknown): string[] {
  if (Array.isArray(filter)) return filter.flatMap(fieldsIn);
  if (typeof filter !== 'object' || filter === null || Object.getPrototypeOf(filter) !== Object.prototype) return [];
  return Object.entries(filter).flatMap(([name, value]) => (name.startsWith('$') ? fieldsIn(value) : [name]));
}
