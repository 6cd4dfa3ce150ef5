// Reads REDIS_URL: one Redis, a primary behind Sentinel, or Redis Cluster. Problems never repeat the value, which may
// contain a password.

export interface Host {
  host: string;
  port: number;
}

interface Login {
  username?: string;
  password?: string;
}

type RedisAddress =
  /** A URL that ioredis reads itself. */
  | { kind: 'single'; url: string }
  | ({ kind: 'socket'; path: string; db: number } & Login)
  | ({
      kind: 'sentinel';
      hosts: Host[];
      /** The name under which the sentinels know the primary. */
      name: string;
      db: number;
      isTls: boolean;
      /** The login of the sentinels themselves. */
      sentinel: Login;
    } & Login)
  | ({ kind: 'cluster'; hosts: Host[]; isTls: boolean } & Login);

export type ReadAddress = { address: RedisAddress; problems?: undefined } | { address?: undefined; problems: string[] };

/** A host or a Unix socket, in the form of redis-py and others. */
const SINGLE = /^rediss?:\/\/[^\s/]+\S*$/;
const SOCKET = /^unix:\/\/(?:([^\s:@/]*):([^\s:@/]*)@)?(\/[^\s?#]+)(?:\?db=(\d+))?$/;
/** The form of several hosts is not a standard URL. A user name and a password are encoded, so neither has an `@`. */
const SEVERAL = /^(rediss?)\+(sentinel|cluster):\/\/(?:([^@/?]*)@)?([^@/?]*)(\/[^?]*)?(?:\?(.*))?$/;

const SENTINEL_PORT = 26_379;
const REDIS_PORT = 6_379;
const PORT_MAX = 65_535;

const FORMS = 'must be redis://…, rediss://…, unix://…, redis+sentinel://… or redis+cluster://…';
const UNENCODED = 'has a "/", "?" or "@" in its user name or password: write them as %2F, %3F and %40';
/** The options after `?`, by the kind of address. */
export const REDIS_URL_OPTIONS: Readonly<Record<'sentinel' | 'cluster', Readonly<Record<string, string>>>> = {
  sentinel: {
    db: 'Number of the database, 0 without it',
    sentinelUsername: 'User of the sentinels themselves, where they have users',
    sentinelPassword: 'Password of the sentinels themselves, where they ask for one',
  },
  cluster: { db: '0, the only database of a cluster' },
};

/** Reads the address. @returns the address, or every problem, each to be read after the name of the variable. */
export function readRedisUrl(text: string): ReadAddress {
  const [, user, secret, path, db] = SOCKET.exec(text) ?? [];
  if (path !== undefined) return socketAddress(path, Number(db ?? 0), user, secret);
  if (SINGLE.test(text)) return { address: { kind: 'single', url: text } };
  const parts = SEVERAL.exec(text);
  return parts && !/\s/.test(text) ? severalHosts(parts) : { problems: [FORMS] };
}

function socketAddress(path: string, db: number, user: string | undefined, secret: string | undefined): ReadAddress {
  const problems: string[] = [];
  const login = loginOf(decoded(user, problems), decoded(secret, problems));
  const address = { kind: 'socket', path: decoded(path, problems) ?? '', db, ...login } as const;
  return problems.length > 0 ? { problems } : { address };
}

function severalHosts([, scheme, kind, userInfo, hostList = '', path = '', query]: RegExpExecArray): ReadAddress {
  // An unencoded password may have been cut anywhere, so nothing of the value is repeated.
  if (`${path}${query}`.includes('@')) return { problems: [UNENCODED] };
  const problems: string[] = [];
  const isSentinel = kind === 'sentinel';
  const login = readLogin(userInfo, problems);
  const hosts = readHosts(hostList, isSentinel ? SENTINEL_PORT : REDIS_PORT, problems);
  const options = readOptions(query, Object.keys(REDIS_URL_OPTIONS[isSentinel ? 'sentinel' : 'cluster']), problems);
  const name = decoded(path.slice(1), problems) ?? '';
  if (isSentinel && name === '')
    problems.push('must name the primary after the sentinels, such as redis+sentinel://HOST:26379/mymaster');
  if (isSentinel && name.includes('/')) problems.push('must have nothing but the name of the primary after its hosts');
  const db = readDatabase(options.get('db') ?? (isSentinel ? '0' : name || '0'), isSentinel, problems);
  if (options.has('sentinelUsername') && !options.has('sentinelPassword'))
    problems.push('has a sentinelUsername and no sentinelPassword');
  if (problems.length > 0) return { problems };
  const common = { hosts, isTls: scheme === 'rediss', ...login };
  if (!isSentinel) return { address: { kind: 'cluster', ...common } };
  const sentinel = loginOf(options.get('sentinelUsername'), options.get('sentinelPassword'));
  return { address: { kind: 'sentinel', ...common, name, db, sentinel } };
}

function readHosts(list: string, standardPort: number, problems: string[]): Host[] {
  return list.split(',').map((entry) => {
    const [, address, name, port] = /^(?:\[([\da-fA-F:.]+)\]|([^\s:[\]]*))(?::(.*))?$/.exec(entry) ?? [];
    const host = address ?? name ?? '';
    if (host === '') problems.push('has an empty or invalid host: hosts are HOST:PORT, separated by commas');
    const number = port === undefined ? standardPort : Number(port);
    if (port !== undefined && !(/^\d+$/.test(port) && number > 0 && number <= PORT_MAX))
      problems.push(`has a port of ${host || 'a host'} that is no number from 1 to ${PORT_MAX}`);
    return { host, port: number };
  });
}

function readLogin(userInfo: string | undefined, problems: string[]): Login {
  if (userInfo === undefined) return {};
  const [user = '', password, ...rest] = userInfo.split(':');
  if (password === undefined) problems.push('has a user name without a password: write USER:PASSWORD@ or :PASSWORD@');
  if (rest.length > 0) problems.push('has a ":" in its user name or password: write it as %3A');
  return loginOf(decoded(user, problems), decoded(password, problems));
}

function loginOf(username: string | undefined, password: string | undefined): Login {
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) };
}

function readOptions(query: string | undefined, known: readonly string[], problems: string[]): Map<string, string> {
  const options = new Map<string, string>();
  for (const part of query ? query.split('&') : []) {
    const [name = '', ...value] = part.split('=');
    if (!known.includes(name)) problems.push(`has an unknown option "${name}"; known are ${known.join(', ')}`);
    else if (options.has(name)) problems.push(`has the option ${name} twice`);
    options.set(name, decoded(value.join('='), problems) ?? '');
  }
  return options;
}

function readDatabase(text: string, mayChoose: boolean, problems: string[]): number {
  if (!/^\d{1,6}$/.test(text)) problems.push('has a database that is no number');
  else if (!mayChoose && Number(text) !== 0)
    problems.push('must have database 0 or none: Redis Cluster has no other. Use REDIS_PREFIX to divide it');
  return Number(text);
}

function decoded(text: string | undefined, problems: string[]): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    problems.push('has a "%" that begins no encoded character: write it as %25');
    return undefined;
  }
}
