// Sends one request to one of the gateways and looks at every answer as a distrustful caller would.

import { createHash } from 'node:crypto';
import type { Agent } from 'node:http';
import type { Chance } from '../../chance.ts';
import { type Received, send } from '../../send.ts';
import type { Journal, Kind } from '../journal.ts';
import type { MarkedAccount } from './accounts.ts';
import { foreignMarks } from './marks.ts';

interface Question {
  account: MarkedAccount;
  kind: Kind;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  /** The Idempotency-Key. */
  key?: string;
}

export type Answer = Received;

/** @returns undefined when there was no response: the outcome of the request is unknown. */
export type Ask = (question: Question) => Promise<Answer | undefined>;

export interface AskOptions {
  urls: readonly string[];
  journal: Journal;
  chance: Chance;
  agent: Agent;
  /** How late the latest answer may come, by now. */
  latestMs: () => number;
  /** Called with every response and every request without one. */
  onEnd: (end: { kind: Kind; ms: number; status: number | undefined }) => void;
}

/** Longer waits count as a hang. */
const GIVE_UP_MS = 60_000;
const TRACE = /\bat \S+ \(?(?:file:|node:|\/)|node_modules|MongoServerError|ReplyError/;

export function openAsk({ urls, journal, chance, agent, latestMs, onEnd }: AskOptions): Ask {
  let turn = 0;

  return async (question) => {
    turn += 1;
    const { account, kind, method, path, body, key } = question;
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const sentAt = Date.now();
    const startedAt = performance.now();
    const entry = {
      turn,
      kind,
      account: account.mark,
      request: `${method} ${path}`,
      sentAt,
      ...(key ? { key } : {}),
      ...(payload ? { bodyHash: createHash('sha256').update(payload).digest('base64url') } : {}),
    };
    const headers = {
      Authorization: `Bearer ${account.key}`,
      ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    };
    let answer: Answer | undefined;
    let error: string | undefined;
    try {
      const given = { method, headers, body: payload, agent, limitMs: GIVE_UP_MS };
      answer = await send(`${chance.pick(urls)}${path}`, given);
    } catch (problem) {
      error = (problem as NodeJS.ErrnoException).code ?? (problem as Error).message;
    }
    const ms = Math.round(performance.now() - startedAt);
    journal.write({ ...entry, ms, ...(answer ? { status: answer.status } : {}), ...(error ? { error } : {}) });
    if (answer) judge(question, answer, ms);
    onEnd({ kind, ms, status: answer?.status });
    return answer;
  };

  function judge({ method, path, account }: Question, { status, bytes, body, headers }: Answer, ms: number) {
    const what = `${method} ${path}: ${status}`;
    if (ms > latestMs()) journal.breach('O6', `${what} after ${ms} ms`);
    if (headers['content-type']?.includes('application/pdf')) return; // The documents have a judge of their own.
    const text = String(bytes);
    if (status >= 500 && status !== 503 && status !== 504) journal.breach('O6', `${what} ${text.slice(0, 200)}`);
    if (status === 503 && !/^\d+$/.test(String(headers['retry-after'])))
      journal.breach('O6', `${what} without Retry-After`);
    if (status >= 400 && typeof body?.error !== 'string')
      journal.breach('O6', `${what} in a wrong shape: ${text.slice(0, 200)}`);
    if (TRACE.test(text)) journal.breach('O6', `${what} tells how we are made: ${text.slice(0, 200)}`);
    const foreign = foreignMarks(text, account.mark);
    if (foreign.length > 0) journal.breach('O8', `${what} for ${account.mark} holds ${foreign.join(', ')}`);
  }
}
