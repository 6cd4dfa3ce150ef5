// Downloads a listed file over HTTP(S), with the machine's proxy settings and a short connection timeout.
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkArtefact, digestOf } from './artefacts.ts';
import type { Search } from './program.ts';
import type { Report } from './progress.ts';

// A machine without internet access often drops packets silently, so the connection timeout is short.
const ANSWER_LIMIT_MS = 4_000;
const SILENCE_LIMIT_MS = 30_000;

export async function fetchFile(url: string, file: string, label: string, search: Search): Promise<void> {
  digestOf(search.artefacts, file); // Fails before a hundred megabytes are downloaded.
  const response = await answerOf(new URL(url), search.env);
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`${url} answers ${response.statusCode}`);
  }
  response.setTimeout(SILENCE_LIMIT_MS, () => response.destroy(new Error(`${url} stopped sending`)));
  const expected = Number(response.headers['content-length'] ?? 0);
  try {
    await search.progress.during(label, expected, async (at) => {
      const received = await writeCounting(response, `${file}.part`, at);
      if (expected && received !== expected) throw new Error(`${url} sent ${received} of ${expected} bytes`);
    });
    await rename(`${file}.part`, file);
    await checkArtefact(search.artefacts, file);
  } finally {
    await rm(`${file}.part`, { force: true });
  }
}

// Writes a stream to a file and reports the bytes.
async function writeCounting(source: Readable, file: string, at: Report): Promise<number> {
  let received = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      at(received);
      done(null, chunk);
    },
  });
  await pipeline(source, counter, createWriteStream(file));
  return received;
}

function answerOf(url: URL, env: NodeJS.ProcessEnv): Promise<http.IncomingMessage> {
  const { Agent, get } = url.protocol === 'http:' ? http : https;
  return new Promise((resolve, reject) => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), ANSWER_LIMIT_MS);
    const request = get(url, { agent: new Agent({ proxyEnv: env, keepAlive: false }) }, (response) => {
      clearTimeout(timer);
      resolve(response);
    });
    request.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    limit.signal.addEventListener('abort', () => {
      request.destroy(new Error(`${url.host} does not answer within ${ANSWER_LIMIT_MS / 1000} s`));
    });
  });
}
