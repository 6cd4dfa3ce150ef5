// Finds misspelt variables of Billhook among those of other programs.
import { distance } from 'fastest-levenshtein';

/**
 * The variables of all services, because services often share one environment. A test compares the list with the
 * services' shapes.
 */
export const KNOWN_VARIABLES: readonly string[] = [
  'HOST',
  'PORT',
  'HEALTH_HOST',
  'HEALTH_ALLOWED_HOSTS',
  'HEALTH_PORT',
  'OPERATIONS_HOST',
  'OPERATIONS_ALLOWED_HOSTS',
  'OPERATIONS_PORT',
  'MONGODB_URI',
  'REDIS_URL',
  'REDIS_PREFIX',
  'SECRET_KEY',
  'OUTBOUND_ALLOW',
  'LOG_LEVEL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'CORS_ORIGINS',
  'TRUST_PROXY',
  'OPERATIONS_TRUST_PROXY',
  'PORTAL_HOST',
  'PORTAL_PORT',
  'PORTAL_URL',
  'PORTAL_TRUST_PROXY',
  'SMTP_URL',
  'MAIL_FROM',
  'MAIL_BOUNCE_DOMAIN',
  'MAIL_CONCURRENCY',
  'MAIL_TIMEOUT_MS',
  'MAIL_RETRY_SCALE',
  'RATE_LIMIT_REQUESTS',
  'RATE_LIMIT_DOCUMENTS',
  'RATE_LIMIT_REFUSALS',
  'ACCOUNT_STORAGE_MEGABYTES',
  'ACCOUNT_FILES_MEGABYTES',
  'CHROMIUM_PATH',
  'RENDER_CONCURRENCY',
  'RECYCLE_PRINTS',
  'RECYCLE_MINUTES',
  'RECYCLE_MEGABYTES',
  'PAGE_MEGABYTES',
  'DELIVERY_CONCURRENCY',
  'WEBHOOK_TIMEOUT_MS',
  'WEBHOOK_RETRY_SCALE',
  // The next variables belong to `npm start`.
  'BILLHOOK_CACHE_DIR',
];
/** `npm start` marks its processes with this variable. A person never sets it. */
const MARK = 'BILLHOOK_PROCESS';

/**
 * Prefixes that no other program uses. `RENDER_` is not among them, because a hosting company sets it, nor are `REDIS_`
 * and `MONGODB_`.
 */
export const OUR_PREFIXES: readonly string[] = [
  'BILLHOOK_',
  'DELIVERY_',
  'OPERATIONS_',
  'OUTBOUND_',
  'RATE_LIMIT_',
  'RECYCLE_',
  'WEBHOOK_',
];

/**
 * Platforms set several names for one store at once (REDIS_URL, REDIS_URI, MONGO_URL), so these are not misspellings.
 */
const STORE = /^(MONGO|REDIS)/;
/** Shorter names are similar to everything. */
const SHORTEST = 9;
const LONG = 16;
const CHANGES_MAX = 2;
const CHANGES_OF_LONG_MAX = 3;

interface Candidate {
  name: string;
  /** The edit distance up to which a name counts as misspelt. */
  changesMax: number;
}

const candidates = KNOWN_VARIABLES.filter(({ length }) => length >= SHORTEST).flatMap((name): Candidate[] => {
  const changesMax = name.length < LONG ? CHANGES_MAX : CHANGES_OF_LONG_MAX;
  return [
    { name, changesMax },
    { name: `${name}_FILE`, changesMax },
  ];
});

/**
 * Returns a sentence for each variable that belongs to Billhook by prefix or similar name, and that no service reads.
 */
export function findMisspelt(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (value === '' || isKnown(name) || isServiceLink(name, value)) return [];
    const right = nearest(name.toUpperCase());
    const isAlsoRight = right !== undefined && (env[right] || env[`${right}_FILE`]);
    if (right && !(isAlsoRight && STORE.test(name)))
      return [`${name} is not a variable of Billhook, did you mean ${right}?`];
    const prefix = OUR_PREFIXES.find((one) => name.startsWith(one));
    if (!prefix) return [];
    const siblings = KNOWN_VARIABLES.filter((known) => known.startsWith(prefix)).join(', ');
    return [`${name} is not a variable of Billhook, those with its prefix are ${siblings}`];
  });
}

const isKnown = (name: string) => name === MARK || KNOWN_VARIABLES.includes(name.replace(/_FILE$/, ''));

function nearest(name: string): string | undefined {
  const own = name.replace(/^BILLHOOK_/, '');
  if (own !== name && isKnown(own)) return own;
  // WEBHOOK_TIMEOUT stands for WEBHOOK_TIMEOUT_MS. A single word is too vague.
  const begun = name.includes('_') && KNOWN_VARIABLES.find((known) => known.startsWith(`${name}_`));
  if (begun) return begun;
  const near = candidates
    .map((candidate) => ({ ...candidate, changes: distance(name, candidate.name) }))
    .filter(({ changes, changesMax }) => changes <= changesMax);
  return near.sort((one, other) => one.changes - other.changes)[0]?.name;
}

/**
 * True for variables that Kubernetes sets in every container for every service of the namespace, or Docker for a link.
 */
function isServiceLink(name: string, value: string): boolean {
  return (
    /_SERVICE_(HOST|PORT)(_|$)/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (/_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))
  );
}
