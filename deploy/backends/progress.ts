// Shows download progress: a bar on a terminal, plain lines in a log.
import { SingleBar } from 'cli-progress';

export interface Progress {
  say(line: string): void;
  // Runs `work`, which reports its bytes through `at`. `totalBytes` is 0 when it is unknown.
  during<Result>(label: string, totalBytes: number, work: (at: Report) => Promise<Result>): Promise<Result>;
}

export type Report = (bytes: number) => void;

const MEBIBYTE = 1024 * 1024;

export function showProgress(stream: NodeJS.WriteStream): Progress {
  const say = (line: string) => void stream.write(`${line}\n`);
  return {
    say,
    during: (label, totalBytes, work) =>
      stream.isTTY ? withBar(stream, label, totalBytes, work) : withLines(say, label, work),
  };
}

export const silentProgress: Progress = { say: () => {}, during: (_label, _totalBytes, work) => work(() => {}) };

async function withBar<Result>(
  stream: NodeJS.WriteStream,
  label: string,
  totalBytes: number,
  work: (at: Report) => Promise<Result>,
): Promise<Result> {
  const bar = new SingleBar({
    stream,
    format: totalBytes > 0 ? '  {label} [{bar}] {percentage}% of {total} MiB' : '  {label} {value} MiB',
    hideCursor: true,
    clearOnComplete: true,
  });
  const inMebibytes = (bytes: number) => Math.round(bytes / MEBIBYTE);
  const most = totalBytes > 0 ? inMebibytes(totalBytes) : Number.POSITIVE_INFINITY;
  bar.start(inMebibytes(totalBytes), 0, { label });
  try {
    return await work((bytes) => bar.update(Math.min(inMebibytes(bytes), most)));
  } finally {
    bar.stop();
  }
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
