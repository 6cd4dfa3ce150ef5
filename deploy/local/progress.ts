// Says on the terminal what is being fetched: a bar for a person, plain lines for a log.
import { SingleBar } from 'cli-progress';

export interface Step {
  at(bytes: number): void;
  end(): void;
}

export interface Progress {
  say(line: string): void;
  // `totalBytes` is 0 when nobody knows it.
  begin(label: string, totalBytes: number): Step;
}

const MEBIBYTE = 1024 * 1024;

export function showProgress(stream: NodeJS.WriteStream): Progress {
  const say = (line: string) => void stream.write(`${line}\n`);
  return {
    say,
    begin: (label, totalBytes) => (stream.isTTY ? drawBar(stream, label, totalBytes) : sayEnds(say, label)),
  };
}

export const silentProgress: Progress = { say: () => {}, begin: () => ({ at: () => {}, end: () => {} }) };

function drawBar(stream: NodeJS.WriteStream, label: string, totalBytes: number): Step {
  const bar = new SingleBar({
    stream,
    format:
      totalBytes > 0 ? '  {label} [{bar}] {percentage}% of {total} MiB' : '  {label} {value} MiB, {duration_formatted}',
    hideCursor: true,
    clearOnComplete: true,
    fps: 10,
  });
  const inMebibytes = (bytes: number) => Math.round(bytes / MEBIBYTE);
  bar.start(inMebibytes(totalBytes), 0, { label });
  return {
    at: (bytes) => bar.update(Math.min(inMebibytes(bytes), totalBytes > 0 ? inMebibytes(totalBytes) : Infinity)),
    end: () => bar.stop(),
  };
}

function sayEnds(say: (line: string) => void, label: string): Step {
  const startedAt = performance.now();
  say(`  ${label} …`);
  return {
    at: () => {},
    end: () => say(`  ${label}: done after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`),
  };
}
