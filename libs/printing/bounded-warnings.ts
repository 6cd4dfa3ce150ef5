// Bounds the warnings about a document, which go into a header of its response.

/** All headers together must fit into the 4 KB that nginx takes; Node's fetch takes 16 KB. */
const WARNINGS_LONGEST = 2_000;

/** Returns the warnings that fit into a header, and how many more there are. */
export function boundedWarnings(warnings: string[]): string[] {
  let length = 0;
  const end = warnings.findIndex((warning) => {
    length += warning.length + '; '.length;
    return length > WARNINGS_LONGEST;
  });
  return end < 0 ? warnings : [...warnings.slice(0, end), `and ${warnings.length - end} more`];
}
