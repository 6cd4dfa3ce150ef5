// Known vulnerabilities of MongoDB, Redis and Valkey, with the versions that fix them. The list was last updated in
// November 2026.

interface Hole {
  name: string;
  /** The first fixed patch of each fixed line. Older lines, and lines between two of them, were never fixed; newer ones include the fix. */
  fixed: Readonly<Record<string, number>>;
}

const HOLES = {
  mongodb: [
    // This one reads memory of the server without a login, https://www.cve.org/CVERecord?id=CVE-2025-14847
    { name: 'CVE-2025-14847', fixed: { '4.4': 30, '5.0': 32, '6.0': 27, '7.0': 28, '8.0': 17, '8.2': 3 } },
    // This one writes beyond a buffer, by a login that may insert into time-series collections,
    // https://www.cve.org/CVERecord?id=CVE-2026-8053
    { name: 'CVE-2026-8053', fixed: { '5.0': 33, '6.0': 28, '7.0': 34, '8.0': 23, '8.2': 9, '8.3': 2 } },
  ],
  redis: [
    // This one runs code through a Lua script, https://www.cve.org/CVERecord?id=CVE-2025-49844
    { name: 'CVE-2025-49844', fixed: { '6.2': 20, '7.2': 11, '7.4': 6, '8.0': 4, '8.2': 2 } },
    // These may run code. One release fixed them in all lines,
    // https://github.com/docker-library/official-images/pull/21922
    {
      name: 'the holes fixed on 24 July 2026',
      fixed: { '6.2': 23, '7.2': 15, '7.4': 10, '8.2': 8, '8.4': 5, '8.6': 5, '8.8': 1 },
    },
  ],
  valkey: [
    { name: 'CVE-2025-49844', fixed: { '7.2': 11, '8.0': 6, '8.1': 4 } },
    // This one runs code through a stored stream, https://www.cve.org/CVERecord?id=CVE-2026-63639
    { name: 'CVE-2026-63639', fixed: { '7.2': 14, '8.0': 10, '8.1': 9, '9.0': 5, '9.1': 1 } },
  ],
} as const satisfies Record<string, readonly Hole[]>;

/**
 * Returns the names of the vulnerabilities that this version has. A distribution may have fixed one without a new
 * number.
 */
export function knownHoles(store: keyof typeof HOLES, version: string): string[] {
  return HOLES[store].filter((hole) => !isFixed(hole, version)).map(({ name }) => name);
}

function isFixed({ fixed }: Hole, version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const first = fixed[`${major}.${minor}`];
  if (first !== undefined) return patch >= first;
  return Object.keys(fixed).every((line) => {
    const [lineMajor = 0, lineMinor = 0] = line.split('.').map(Number);
    return major > lineMajor || (major === lineMajor && minor > lineMinor);
  });
}
