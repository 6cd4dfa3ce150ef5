// What the person at the terminal sees: our own lines, and what a service says that they should know.
import { styleText } from 'node:util';

export interface Terminal {
  say(line: string): void;
  // A line about one part of the system, led by its name.
  note(name: string, line: string): void;
}

const WARN = 40; // pino's number
const ERROR = 50;

export function showOn(stream: NodeJS.WritableStream): Terminal {
  const say = (line: string) => void stream.write(`${line}\n`);
  return { say, note: (name, line) => say(`${paint('cyan', `[${name}]`)} ${line}`) };

  function paint(colour: 'cyan', text: string) {
    return styleText(colour, text, { stream });
  }
}

// The short form of one line of a service's output: undefined for what only the log file needs.
export function briefly(line: string): string | undefined {
  if (!line.startsWith('{')) return line.trim() || undefined;
  try {
    const { level, msg, err } = JSON.parse(line) as { level?: number; msg?: string; err?: { message?: string } };
    if (level === undefined || level < WARN) return undefined;
    const cause = err?.message && err.message !== msg ? ` (${err.message})` : '';
    return `${level >= ERROR ? 'error' : 'warning'}: ${msg ?? ''}${cause}`;
  } catch {
    return line;
  }
}
