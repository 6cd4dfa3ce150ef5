// The conventions of Prometheus for names of metrics, as `promtool check metrics` has them, and our prefix.

export interface MetricFamily {
  name: string;
  /** The type in the line `# TYPE`. */
  type: string;
  help: string;
}

/** Units that have a base unit, and abbreviations. */
const OTHER_UNITS =
  /^(ms|us|ns|s|sec|milliseconds|microseconds|nanoseconds|minutes|hours|days|kb|mb|gb|kib|mib|gib|kilobytes|megabytes|gigabytes|bits|percent|percents)$/;
const BASE_UNITS = /^(seconds|bytes|ratio)$/;
const TYPES = /^(counter|gauge|histogram|summary)$/;

/** Reads the families of a response of `/metrics`. */
export function familiesOf(text: string): MetricFamily[] {
  const help = new Map([...text.matchAll(/^# HELP (\S+) ?(.*)$/gm)].map(([, name, words]) => [name, words ?? '']));
  return [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = '', type = '']) => ({
    name,
    type,
    help: help.get(name) ?? '',
  }));
}

/** Returns what is wrong with a metric of ours. */
export function namingProblems({ name, type, help }: MetricFamily): string[] {
  const words = name.split('_');
  const last = words.at(-1) ?? '';
  const unitAt = words.findIndex((word) => BASE_UNITS.test(word));
  const isLast = unitAt === words.length - 1 || (unitAt === words.length - 2 && last === 'total');
  const isHistogram = type === 'histogram' || type === 'summary';
  const rules: [isBroken: boolean, problem: string][] = [
    [!/^billhook(_[a-z][a-z0-9]*)+$/.test(name), 'must begin with billhook_ and have small letters only'],
    [help.trim() === '', 'needs a help text'],
    [type === 'counter' && last !== 'total', 'a counter must end with _total'],
    [type !== 'counter' && last === 'total', 'only a counter may end with _total'],
    [words.some((word) => OTHER_UNITS.test(word)), 'must use base units: seconds, bytes, ratio'],
    [unitAt >= 0 && !isLast, 'the unit must come last, before _total'],
    [isHistogram && unitAt < 0, 'a histogram needs a unit'],
    [words.some((word) => TYPES.test(word)), 'must not contain its type'],
    [!isHistogram && /^(count|sum|bucket)$/.test(last), 'must not end like a series of a histogram'],
    [last === 'info' && type !== 'gauge', '_info must be a gauge'],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, problem]) => `${name}: ${problem}`);
}
