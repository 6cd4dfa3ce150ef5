// Prints results: text by default, JSON for programs.

/** Prints a list of `name  value` lines, or with `--json` one record per call. */
export function printRecord(record: object, asJson: boolean): void {
  if (asJson) {
    writeLine(json(record));
    return;
  }
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, value] of entries) writeLine(`${name.padEnd(width)}  ${show(value)}`);
}

/** Prints a table, or with `--json` one array. */
export function printTable(records: object[], asJson: boolean): void {
  if (asJson) {
    writeLine(json(records));
    return;
  }
  const [first] = records;
  if (!first) {
    writeLine('none');
    return;
  }
  const names = Object.keys(first);
  const rows = records.map((record) => names.map((name) => show((record as Record<string, unknown>)[name])));
  const widths = names.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of [names, ...rows]) {
    writeLine(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

function show(value: unknown): string {
  if (value === undefined || value === null) return '-';
  if (value instanceof Date) return value.toISOString();
  return oneLine(Array.isArray(value) ? value.join(',') : String(value));
}

/** Escapes line breaks, terminal controls and bidirectional overrides in stored text. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Writes a value as JSON, with the same escapes inside its strings. */
function json(value: unknown): string {
  return oneLine(JSON.stringify(value));
}

function writeLine(line: string) {
  process.stdout.write(`${line}\n`);
}
