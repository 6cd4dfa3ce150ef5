// The ids of rules in the title of a test.

export function provenBy(title: string): string[] {
  return /\[([^\]]*)\]$/.exec(title)?.[1]?.split(' ') ?? [];
}
