// Plans a sharded cluster: the commands of mongosh that spread the collections of accounts over its shards.
import { shardingOfAll } from '#libs/models/sharding.ts';
import { CommandError } from '../connection.ts';

export interface ShardPlan {
  database: string;
  /** The shards by their names in `sh.status()`. The first one keeps the collections that are not spread. */
  shards: string[];
}

export interface ShardStep {
  title: string;
  commands: string[];
}

/** The values of hashes: signed numbers of 64 bits. */
const HASHES = 2n ** 64n;
const LEAST_HASH = -(2n ** 63n);

/** @throws CommandError when a name is no name, or there are no two shards. */
export function planShards({ database, shards }: ShardPlan): ShardStep[] {
  requireNames(database, shards);
  const name = (collection: string) => `"${database}.${collection}"`;
  const spread = shardingOfAll().flatMap(({ collection, field }) => (field ? [{ collection, field }] : []));
  const kept = shardingOfAll().filter(({ field }) => !field);
  return [
    {
      title: 'Make a backup, run "admin migrate" of this version against mongos, and stop all services',
      commands: ['sh.stopBalancer()'],
    },
    {
      title: 'Choose the shard of the collections that are not spread, and give each shard a zone',
      commands: [
        `sh.enableSharding("${database}", "${shards[0]}")`,
        ...shards.map((shard, index) => `sh.addShardToZone("${shard}", "${zone(index)}")`),
      ],
    },
    {
      title: 'Make the indexes of the shard keys; on large collections this takes minutes to hours',
      commands: spread
        // Every collection has an index on its ids, but not on their hashes.
        .map(
          ({ collection, field }) => `db.getSiblingDB("${database}").${collection}.createIndex({ ${field}: "hashed" })`,
        ),
    },
    {
      title: 'Spread each collection, with the same division of the hashes: all records of an account are on one shard',
      commands: spread.flatMap(({ collection, field }) => [
        `sh.shardCollection(${name(collection)}, { ${field}: "hashed" })`,
        ...shards.map(
          (_shard, index) =>
            `sh.updateZoneKeyRange(${name(collection)}, { ${field}: ${bound(index, shards.length)} }, ` +
            `{ ${field}: ${bound(index + 1, shards.length)} }, "${zone(index)}")`,
        ),
      ]),
    },
    {
      title:
        'Let the balancer move the records, and start the services when sh.isBalancerRunning() shows that it waits',
      commands: ['sh.startBalancer()'],
    },
    {
      title: 'These stay on the first shard',
      commands: kept.map(({ collection, reason }) => `// ${collection}: ${reason}`),
    },
  ];
}

/** Returns the steps as a script of mongosh. */
export function scriptOf(steps: readonly ShardStep[]): string {
  return steps
    .map(({ title, commands }, index) => [`// ${index + 1}. ${title}`, ...commands, ''].join('\n'))
    .join('\n');
}

const zone = (index: number) => `billhook-${index + 1}`;

/** Returns the first hash of a part, when all hashes are divided into equal parts. */
function bound(index: number, parts: number): string {
  if (index === 0) return 'MinKey()';
  if (index === parts) return 'MaxKey()';
  return `NumberLong("${LEAST_HASH + (HASHES * BigInt(index)) / BigInt(parts)}")`;
}

function requireNames(database: string, shards: readonly string[]): void {
  const wrong = [database, ...shards].find((one) => !/^[\w-]{1,63}$/.test(one));
  if (wrong !== undefined) throw new CommandError(`"${wrong}" is no name of a database or shard`);
  if (new Set(shards).size < shards.length) throw new CommandError('A shard is named twice');
  if (shards.length < 2) throw new CommandError('Name at least two shards: --shards one,two');
}
