// Sorts commands of MongoDB by the shards that they ask, once collections are sharded as libs/models/sharding.ts says.
import { shardingOfAll } from '#libs/models/sharding.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One filter or record of a command, and the shards that it asks. */
export interface Ask {
  command: string;
  collection: string;
  /** The field names of the filter, in order. */
  fields: readonly string[];
  /** `refused` for a write that a sharded cluster does not accept. */
  shards: 'one account' | 'unsharded' | 'all' | 'refused';
  /** The ids of the accounts that it names. */
  accounts: readonly string[];
}

const FIELDS = new Map(shardingOfAll().map(({ collection, field }) => [collection, field]));

/** Commands that ask for no records of a collection, or go on with what another command began. */
const OTHERS = new Set(
  ['abortTransaction', 'buildInfo', 'collStats', 'commitTransaction', 'configureFailPoint', 'create', 'createIndexes']
    .concat(['currentOp', 'dbStats', 'drop', 'dropDatabase', 'dropIndexes', 'endSessions', 'getMore', 'hello'])
    .concat(['killCursors', 'killSessions', 'listCollections', 'listIndexes', 'ping', 'planCacheClear', 'profile'])
    .concat(['replSetGetStatus', 'serverStatus', 'connectionStatus', 'getParameter', 'hostInfo']),
);

/** Returns what a command asks, an entry for each of its filters or records. @throws for a command that is not known here. */
export function asksOf(command: Fields): Ask[] {
  const [name = ''] = Object.keys(command);
  const collection = String(command[name]);
  if (OTHERS.has(name)) return [];
  const list = (field: string) => command[field] as Fields[];
  switch (name) {
    case 'find':
      return [askOf(name, collection, command['filter'])];
    case 'count':
      return [askOf(name, collection, command['query'])];
    case 'distinct':
      return [refusedInSnapshot(command, askOf(name, collection, command['query']))];
    case 'findAndModify':
      return [{ ...askOf(name, collection, command['query']), ...refusedUnless(command['query'], collection, false) }];
    case 'aggregate':
      return command['aggregate'] === 1 ? [] : asksOfPipeline(collection, list('pipeline'), undefined);
    case 'insert':
      return list('documents').map((document) => ({ ...askOf(name, collection, document), fields: [] }));
    case 'update':
      return list('updates').map(({ q, multi, upsert }) => ({
        ...askOf(multi ? 'updateMany' : 'updateOne', collection, q),
        ...(multi && !upsert ? {} : refusedUnless(q, collection, !upsert)),
      }));
    case 'delete':
      return list('deletes').map(({ q, limit }) => ({
        ...askOf(limit === 1 ? 'deleteOne' : 'deleteMany', collection, q),
        ...(limit === 1 ? refusedUnless(q, collection, true) : {}),
      }));
    default:
      throw new Error(`${name} is unknown to judge-command.ts`);
  }
}

/** Sorts the stages of a pipeline that read a collection. @param outer the account of the pipeline around it. */
function asksOfPipeline(collection: string, pipeline: readonly Fields[], outer: Fields | undefined): Ask[] {
  const filter = pipeline[0]?.['$match'] ?? outer;
  const own = askOf('aggregate', collection, filter);
  const joined = pipeline.flatMap((stage) => {
    const { from, pipeline: inner = [] } = (stage['$lookup'] ?? {}) as { from?: string; pipeline?: Fields[] };
    const { coll, pipeline: added = [] } = (stage['$unionWith'] ?? {}) as { coll?: string; pipeline?: Fields[] };
    return [
      ...(from ? asksOfPipeline(from, inner, undefined) : []),
      ...(coll ? asksOfPipeline(coll, added, undefined) : []),
    ];
  });
  const faceted = pipeline.flatMap((stage) =>
    Object.values((stage['$facet'] ?? {}) as Record<string, Fields[]>).flatMap((inner) =>
      // It gets the records of the stages before it, and its own filter chooses no shard.
      asksOfPipeline(collection, [{ $match: filter }, ...inner], undefined),
    ),
  );
  return [own, ...joined, ...faceted];
}

function askOf(command: string, collection: string, filter: unknown): Ask {
  if (!FIELDS.has(collection)) throw new Error(`${collection} is no collection of libs/models/indexes.ts`);
  const field = FIELDS.get(collection);
  const conditions = conditionsOf(filter);
  const accounts = accountsIn(conditions, field ?? 'account_id');
  const shards = field === undefined ? 'unsharded' : accounts.length === 1 ? 'one account' : 'all';
  return { command, collection, shards, accounts, fields: [...new Set(conditions.map(([name]) => name))].toSorted() };
}

/** A sharded collection has no `distinct` in transactions and snapshots. */
function refusedInSnapshot({ autocommit, readConcern }: Fields, ask: Ask): Ask {
  const isAtOnce = autocommit === false || (readConcern as Fields | undefined)?.['level'] === 'snapshot';
  return isAtOnce && ask.shards !== 'unsharded' ? { ...ask, shards: 'refused' } : ask;
}

/** A write of one record needs the shard key, or the id where the server tries one shard after the other. */
function refusedUnless(filter: unknown, collection: string, isIdEnough: boolean): Partial<Ask> {
  const { shards } = askOf('', collection, filter);
  const hasId = conditionsOf(filter).some(([name, value]) => name === '_id' && valuesOf(value).length === 1);
  return shards === 'all' && !(isIdEnough && hasId) ? { shards: 'refused' } : {};
}

/** Returns the conditions of a filter that all hold, those under `$and` included. Alternatives count by their names only. */
function conditionsOf(filter: unknown): [name: string, value: unknown][] {
  return Object.entries((filter ?? {}) as Fields).flatMap(([name, value]) => {
    if (name === '$and') return (value as Fields[]).flatMap(conditionsOf);
    if (name === '$or')
      return (value as Fields[]).flatMap(conditionsOf).map(([inner]) => [inner, {}] as [string, unknown]);
    return [[name, value] as [string, unknown]];
  });
}

function accountsIn(conditions: readonly [string, unknown][], field: string): string[] {
  return [...new Set(conditions.filter(([name]) => name === field).flatMap(([, value]) => valuesOf(value)))];
}

/** Returns the values that a condition by equality allows, as texts. */
function valuesOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object' || '_bsontype' in value) return [String(value)];
  const { $eq, $in } = value as { $eq?: unknown; $in?: unknown[] };
  if ($in) return [...new Set($in.map(String))];
  return $eq === undefined ? [] : [String($eq)];
}
