// Callers that keep sending requests over reused connections, and a journal of their outcomes.
import type { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from './eventually.ts';
import { type Received, send } from './send.ts';

export interface Target {
  agent: Agent;
  key: string;
  /** The gateways that accept requests now; read before each request. */
  urls: () => string[];
}

export interface Journal {
  sent: number;
  answered: number;
  documents: number;
  clientIds: string[];
  failures: string[];
}

export interface Load {
  /** Resolves after this many further responses. */
  answered(count: number): Promise<void>;
  /** Resolves after this many correct responses in a row. */
  recovered(count: number): Promise<void>;
  failures(): string[];
  stop(): Promise<Journal>;
}

interface Call {
  method: string;
  path: string;
  body?: object;
  headers?: Record<string, string>;
}

const document = {
  title: 'Invoice',
  number: 'INV-0042',
  date: '2026-11-21',
  clientName: 'Ada Lovelace',
  clientEmail: 'ada@example.com',
  partnerName: 'Studio North',
  partnerEmail: 'hello@north.example',
  amount: 1200,
  lineItems: [{ description: 'Design', qty: 10, rate: 100 }],
};

const PAUSE_MS = 50;
const ANSWER_LIMIT_MS = 40_000;

export const newDocument = (): Call => ({ method: 'POST', path: '/api/tools/generate-pdf', body: document });

/** Two callers create clients, one reads lists, two request documents: each waits for its response before the next request. */
export function startLoad(target: Target): Load {
  const journal: Journal = { sent: 0, answered: 0, documents: 0, clientIds: [], failures: [] };
  let isStopping = false;
  let rightInARow = 0;

  async function caller(callOf: (turn: number) => Call, onReply: (reply: Received) => void, status: number) {
    for (let turn = 0; !isStopping; turn += 1) {
      const call = callOf(turn);
      journal.sent += 1;
      try {
        const reply = await sendRequest(target, call);
        journal.answered += 1;
        if (reply.status !== status) throw new Error(`${reply.status} ${String(reply.bytes).slice(0, 200)}`);
        onReply(reply);
        rightInARow += 1;
      } catch (error) {
        rightInARow = 0;
        journal.failures.push(`${call.method} ${call.path}: ${(error as Error).message}`);
        // Callers pause after a rejection. Without this, rejections would take the processor from requests that work.
        await pause(PAUSE_MS);
      }
    }
  }

  const newClient = (caller: string) => (turn: number) => {
    const body = { name: `${caller} ${turn}`, email: `${caller}-${turn}@example.com` };
    return { method: 'POST', path: '/api/v1/clients', body };
  };
  const keepId = ({ body }: Received) => void journal.clientIds.push(body.data.id);
  const judgeDocument = ({ bytes }: Received) => {
    if (bytes.subarray(0, 5).toString() !== '%PDF-') throw new Error('it is no document');
    journal.documents += 1;
  };
  const callers = [
    caller(newClient('ada'), keepId, 201),
    caller(newClient('grace'), keepId, 201),
    caller(
      () => ({ method: 'GET', path: '/api/v1/clients?limit=5' }),
      () => undefined,
      200,
    ),
    caller(newDocument, judgeDocument, 200),
    caller(newDocument, judgeDocument, 200),
  ];

  return {
    async answered(count) {
      const goal = journal.answered + count;
      await eventually(() => journal.answered >= goal, 60_000);
    },
    async recovered(count) {
      rightInARow = 0;
      await eventually(() => rightInARow >= count, 60_000);
    },
    failures: () => [...journal.failures],
    async stop() {
      isStopping = true;
      await Promise.all(callers);
      return journal;
    },
  };
}

let turn = 0;

/** Sends one request, round robin. No retry: a failed request is a failure. */
export function sendRequest(
  { agent, key, urls }: Target,
  { method, path, body, headers: more }: Call,
): Promise<Received> {
  const targets = urls();
  turn += 1;
  const url = `${targets[turn % targets.length]}${path}`;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...more };
  return send(url, { method, agent, headers, body: body && JSON.stringify(body), limitMs: ANSWER_LIMIT_MS });
}
