// Rows of a benchmark's result: one for each figure, ours beside the floor that was measured in the same run.

export interface Row {
  name: string;
  unit: string;
  ours: number;
  floor: number;
  /** ours ÷ floor. */
  ratio: number;
  /** The target of the ratio, such as `≥ 0.6`. Empty when the row only informs. */
  target: string;
  pass: boolean;
}

/** @param bound `['≥', 0.6]` or `['≤', 2]`; absent when there is nothing to reach. */
export function row(name: string, unit: string, ours: number, floor: number, bound?: ['≥' | '≤', number]): Row {
  const ratio = ours / floor;
  const pass = !bound || (bound[0] === '≥' ? ratio >= bound[1] : ratio <= bound[1]);
  return {
    name,
    unit,
    ours: rounded(ours),
    floor: rounded(floor),
    ratio: rounded(ratio),
    target: bound?.join(' ') ?? '',
    pass,
  };
}

export function printTable(rows: readonly Row[]): void {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const targetWidth = Math.max(10, ...rows.map(({ target }) => target.length + 2));
  const titles = ['ours', 'floor', 'ratio'].map((title) => title.padStart(10)).join('');
  process.stdout.write(`\n${'what'.padEnd(width)}${'unit'.padStart(8)}${titles}${'target'.padStart(targetWidth)}\n`);
  for (const { name, unit, ours, floor, ratio, target, pass } of rows) {
    const figures = [ours, floor, ratio].map((figure) => String(figure).padStart(10)).join('');
    const verdict = target ? (pass ? 'pass' : 'MISSED') : '';
    process.stdout.write(
      `${name.padEnd(width)}${unit.padStart(8)}${figures}${target.padStart(targetWidth)}  ${verdict}\n`,
    );
  }
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
