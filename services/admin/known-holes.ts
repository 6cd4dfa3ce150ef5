// Versions of the stores with holes that are known and repaired in later ones.

/** The first fixed patch of each fixed line. Older lines were never fixed, newer ones include the fix. */
interface Hole {
  name: string;
  repaired: Readonly<Record<string, number>>;
}

/** Reads memory of the server without a login, https://www.cve.org/CVERecord?id=CVE-2025-14847 */
const MONGODB: Hole = {
  name: 'CVE-2025-14847',
  repaired: { '4.4': 30, '5.0': 32, '6.0': 27, '7.0': 28, '8.0': 17, '8.2': 3 },
};
/** Runs code through a Lua script, https://www.cve.org/CVERecord?id=CVE-2025-49844 */
const REDIS: Hole = { name: 'CVE-2025-49844', repaired: { '6.2': 20, '7.2': 11, '7.4': 6, '8.0': 4, '8.2': 2 } };
const VALKEY: Hole = { name: 'CVE-2025-49844', repaired: { '7.2': 11, '8.0': 6, '8.1': 4 } };

const HOLES = { mongodb: MONGODB, redis: REDIS, valkey: VALKEY } as const;

/** @returns the name of the hole that this version has, or undefined. A distribution may have repaired it without a new number. */
export function knownHole(store: keyof typeof HOLES, version: string): string | undefined {
  const { name, repaired } = HOLES[store];
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const first = repaired[`${major}.${minor}`];
  if (first !== undefined) return patch < first ? name : undefined;
  const isNewer = Object.keys(repaired).every((line) => {
    const [lineMajor = 0, lineMinor = 0] = line.split('.').map(Number);
    return major > lineMajor || (major === lineMajor && minor > lineMinor);
  });
  return isNewer ? undefined : name;
}
