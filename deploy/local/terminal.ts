// The terminal output of `npm start`: its own lines and the warnings of services.
import { styleText } from 'node:util';

export interface Terminal {
  say(line: string): void;
  // Writes a line prefixed with the name of a process.
  note(name: string, line: string): void;
}

const WARN = 40; // pino's number for this level
const ERROR = 50;

export function showOn(stream: NodeJS.WritableStream): Terminal {
  const say = (line: string) => void stream.write(`${line}\n`);
  return { say, note: (name, line) => say(`${paint('cyan', `[${name}]`)} ${line}`) };

  function paint(colour: 'cyan', text: string) {
    return styleText(colour, text, { stream });
  }
}

// Returns the short form of a service's log line, or undefined for lines that go to the log file only.
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
