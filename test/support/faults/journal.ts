// Every request with its outcome, written line by line before an oracle judges it, and every breach.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

type Oracle = 'O1' | 'O2' | 'O3' | 'O4' | 'O5' | 'O6' | 'O8';

export interface Breach {
  oracle: Oracle;
  text: string;
}

export type Kind = 'records' | 'documents';

interface Entry {
  turn: number;
  kind: Kind;
  account: string;
  request: string;
  key?: string;
  bodyHash?: string;
  sentAt: number;
  ms: number;
  /** Absent when there was no answer: what the request did is unknown. */
  status?: number;
  error?: string;
}

export interface Journal {
  entries: Entry[];
  write(entry: Entry): void;
  breach(oracle: Oracle, text: string): void;
  breaches: Breach[];
  close(): void;
}

const BREACHES_KEPT = 200;

/** @param file gets a JSON line for each entry and breach. */
export function openJournal(file: string): Journal {
  const descriptor = openSync(file, 'a');
  const entries: Entry[] = [];
  const breaches: Breach[] = [];
  // Written at once: a crash of this process loses nothing that the kernel has; the disk gets it at the end.
  const line = (what: object) => writeSync(descriptor, `${JSON.stringify(what)}\n`);
  return {
    entries,
    breaches,
    write(entry) {
      entries.push(entry);
      line(entry);
    },
    breach(oracle, text) {
      if (breaches.length < BREACHES_KEPT) breaches.push({ oracle, text });
      line({ breach: oracle, text });
    },
    close() {
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
  };
}
