// O8 for the logs: they name ids, never what an account wrote.
import { open } from 'node:fs/promises';
import { marksIn } from '../load/marks.ts';
import type { RoundFacts } from '../round-facts.ts';

export interface ReadLogs {
  /** Judges what was written since the last time. */
  judge(facts: RoundFacts): Promise<void>;
}

export function openLogReader(): ReadLogs {
  const readUpTo = new Map<string, number>();
  return {
    async judge({ system, journal }) {
      for (const { name, logFile } of system.services) {
        const file = await open(logFile);
        try {
          const from = readUpTo.get(logFile) ?? 0;
          const { size } = await file.stat();
          const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
          readUpTo.set(logFile, size);
          for (const line of buffer.toString('utf8', 0, bytesRead).split('\n')) {
            const marks = marksIn(line);
            if (marks.size > 0)
              journal.breach('O8', `the log of ${name} holds ${[...marks].join(', ')}: ${line.slice(0, 400)}`);
          }
        } finally {
          await file.close();
        }
      }
    },
  };
}
