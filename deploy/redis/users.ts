// Redis permissions: one user per service, as lines of an ACL file (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/).
import { createHash } from 'node:crypto';
import {
  catalog,
  deliverWebhook,
  fanOutEvent,
  loadLogo,
  renderDocument,
  retryWebhook,
  sendMail,
  sendOwnMail,
} from '#libs/jobs/catalog.ts';

/** The users. `admin` belongs to the command line. */
export const REDIS_USERS = [
  'gateway',
  'mail',
  'operations',
  'portal',
  'renderer',
  'scheduler',
  'webhooks',
  'admin',
] as const;

export type RedisUser = (typeof REDIS_USERS)[number];

/**
 * The commands of queues, counters and replies. Commands that search keys by pattern are excluded, so that a key must
 * be known to be read. So are commands that empty or move databases or control the server (configuration, modules,
 * foreign scripts, other clients).
 */
const COMMANDS = [
  '-@all',
  '+@read',
  '+@write',
  '+@pubsub',
  '+@connection',
  '+@transaction',
  '-@dangerous',
  '-@admin',
  '-keys',
  '-scan',
  '-randomkey',
  '-dbsize',
  '-swapdb',
  '-flushall',
  '-flushdb',
  '-migrate',
  '-restore',
  '-dump',
  '-pubsub',
  '+time',
  '+eval',
  '+evalsha',
  // Every connection sends this command first.
  '+info',
  '-client',
  '+client|setname',
  // A client of a cluster asks which server has which slots, and if all are served.
  '+cluster|slots',
  '+cluster|info',
];
/** The command that lists connected workers, for dashboard and command line. */
const OVERVIEW = '+client|list';

function rightsOf(user: RedisUser, prefix: string): string[] {
  // In a cluster the name of a queue is a hash tag.
  const queues = (names: readonly { name: string }[]) =>
    names.flatMap(({ name }) => [`~${prefix}:${name}:*`, `~${prefix}:{${name}}:*`]);
  const channels = (names: string[]) => names.map((name) => `&${prefix}:${name}`);
  switch (user) {
    case 'gateway':
    case 'admin':
      return [`~${prefix}:*`, `&${prefix}:*`, ...COMMANDS, OVERVIEW];
    case 'renderer':
      return [
        ...queues([renderDocument, loadLogo]),
        `~${prefix}:unsaved:${renderDocument.name}:*`,
        `~${prefix}:unsaved:${loadLogo.name}:*`,
        `~${prefix}:reply:*`,
        ...channels(['replies:*', 'cancels']),
        ...COMMANDS,
      ];
    case 'operations':
      // The dashboard may use every queue, but neither documents nor their replies.
      return [...queues(catalog), ...channels(['nudges']), ...COMMANDS, OVERVIEW];
    case 'mail':
      return [
        ...queues([sendMail, sendOwnMail, renderDocument]),
        // It has documents printed, and gets the files.
        `~${prefix}:unsaved:${renderDocument.name}:*`,
        `~${prefix}:reply:*`,
        ...channels(['nudges', 'replies:*', 'cancels']),
        ...COMMANDS,
        // The service's metrics count the workers of its queue.
        OVERVIEW,
      ];
    case 'portal':
      return [
        ...queues([renderDocument, loadLogo]),
        // It has originals printed that are not kept yet and logos fetched, and gets the files.
        `~${prefix}:unsaved:${renderDocument.name}:*`,
        `~${prefix}:unsaved:${loadLogo.name}:*`,
        `~${prefix}:reply:*`,
        ...channels(['nudges', 'replies:*', 'cancels']),
        ...COMMANDS,
      ];
    case 'scheduler':
      return [...channels(['nudges']), ...COMMANDS];
    case 'webhooks':
      return [
        ...queues([fanOutEvent, deliverWebhook, retryWebhook]),
        ...channels(['nudges']),
        ...COMMANDS,
        // The service's metrics count the workers of its queues.
        OVERVIEW,
      ];
  }
}

/**
 * The line of the default user, as which no login is possible. It has all rights because Redis reads its append-only
 * file with them, and leaves out every transaction that they forbid (https://github.com/redis/redis/issues/14541).
 */
const DEFAULT_USER = 'user default off resetpass ~* &* +@all';
/** The line of the user for health checks, which have no password. */
const HEALTH_USER = 'user health on nopass resetkeys resetchannels -@all +ping';

/** The kinds of address, see REDIS_URL. */
export type RedisKind = 'single' | 'sentinel' | 'cluster';

/** The users of Redis itself, by the kinds that need them: a replica logs in at its primary, and a sentinel at both. */
const SERVER_RIGHTS = {
  replication: ['+psync', '+replconf', '+ping'],
  sentinel: [
    'allchannels',
    ...['+multi', '+exec', '+replicaof', '+slaveof', '+role', '+info', '+ping', '+subscribe', '+publish'],
    ...['+config|rewrite', '+client|setname', '+client|kill', '+script|kill'],
  ],
} as const;
export type ServerUser = keyof typeof SERVER_RIGHTS;

export const SERVER_USERS: Readonly<Record<RedisKind, readonly ServerUser[]>> = {
  single: [],
  sentinel: ['replication', 'sentinel'],
  cluster: ['replication'],
};

/**
 * Returns the text of a file for `redis-server --aclfile`. Redis answers nothing without a login.
 * @param prefix REDIS_PREFIX.
 * @param passwords of each user. The file has their SHA-256 only.
 */
export function aclFile(
  prefix: string,
  kind: RedisKind,
  passwords: Readonly<Record<RedisUser | ServerUser, string>>,
): string {
  const hash = (password: string) => createHash('sha256').update(password).digest('hex');
  const line = (user: RedisUser | ServerUser, rights: readonly string[]) =>
    ['user', user, 'on', `#${hash(passwords[user])}`, 'resetkeys', 'resetchannels', ...rights].join(' ');
  const users = REDIS_USERS.map((user) => line(user, rightsOf(user, prefix)));
  const servers = SERVER_USERS[kind].map((user) => line(user, ['-@all', ...SERVER_RIGHTS[user]]));
  return `${[DEFAULT_USER, HEALTH_USER, ...users, ...servers].join('\n')}\n`;
}
