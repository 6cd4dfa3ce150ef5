// Shows download progress: a bar for each on a terminal, plain lines in a log.
import { MultiBar } from 'cli-progress';

export interface Progress {
  say(line: string): void;
  // Runs `work`, which reports its bytes through `at`. `totalBytes` is 0 when it is unknown.
  during<Result>(label: string, totalBytes: number, work: (at: Report) => Promise<Result>): Promise<Result>;
}

export type Report = (bytes: number) => void;

const MEBIBYTE = 1024 * 1024;

export function showProgress(stream: NodeJS.WriteStream): Progress {
  if (stream.isTTY) return showBars(stream);
  const say = (line: string) => void stream.write(`${line}\n`);
  return { say, during: (label, _totalBytes, work) => withLines(say, label, work) };
}

export const silentProgress: Progress = { say: () => {}, during: (_label, _totalBytes, work) => work(() => {}) };

// Shows one bar below the other, because several programs may be fetched at a time.
function showBars(stream: NodeJS.WriteStream): Progress {
  let bars: MultiBar | undefined;
  let underWay = 0;
  return {
    say: (line) => void (bars ? bars.log(`${line}\n`) : stream.write(`${line}\n`)),
    async during(label, totalBytes, work) {
      bars ??= new MultiBar({ stream, hideCursor: true, clearOnComplete: true });
      underWay += 1;
      const format = totalBytes > 0 ? '  {label} [{bar}] {percentage}% of {total} MiB' : '  {label} {value} MiB';
      const most = totalBytes > 0 ? inMebibytes(totalBytes) : Number.POSITIVE_INFINITY;
      const bar = bars.create(inMebibytes(totalBytes), 0, { label }, { format });
      try {
        return await work((bytes) => bar.update(Math.min(inMebibytes(bytes), most)));
      } finally {
        bars.remove(bar);
        underWay -= 1;
        if (underWay === 0) {
          bars.stop();
          bars = undefined;
        }
      }
    },
  };
}

function inMebibytes(bytes: number): number {
  return Math.round(bytes / MEBIBYTE);
}

async function withLines<Result>(
  say: (line: string) => void,
  label: string,
  work: (at: Report) => Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  say(`  ${label} …`);
  const result = await work(() => {});
  say(`  ${label}: done after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return result;
}
