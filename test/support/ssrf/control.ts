// Proves that the ground is what it is taken for, and that a refusal looks like any other failure.
import { execFileSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { pdfOf } from '../pdf-body.ts';
import type { TestSystem } from '../system.ts';
import { readWords } from './read.ts';
import type { Field, LayerReport } from './report.ts';
import { print } from './system.ts';
import { hostileUrls } from './urls.ts';

const PICTURE_ATTEMPTS = 5;
const invoice = pdfOf('Invoice');

const emptyReport = (vector: string): LayerReport => ({
  layer: 'control',
  vector,
  attacks: 0,
  hits: [],
  queries: [],
  leaks: [],
  surprises: [],
  seconds: 0,
});

/** A renderer on a busy machine gives a picture up at its limit of time and prints without it: once drawn is proof enough. */
async function isDrawn(printWith: (logoUrl: string) => ReturnType<typeof print>): Promise<boolean> {
  for (let attempt = 1; attempt <= PICTURE_ATTEMPTS; attempt++) {
    const { body } = await printWith(`http://public.hostile.example/logo.png?attempt=${attempt}`);
    if ((body as Buffer).includes('/Subtype /Image')) return true;
  }
  return false;
}

/** A picture of the public host is drawn, and every public address is called: the guard refuses what it refuses, not everything. */
export async function proveGround({ canaries, names, say }: Field, system: TestSystem): Promise<void> {
  const report = emptyReport('public addresses are reached');
  const printWith = (logoUrl: string) => print(system, { ...invoice, logoUrl, showBanner: false });
  if (!(await isDrawn(printWith))) report.surprises.push('the public picture was not drawn');
  const isAsked = names?.asked.includes('public.hostile.example A');
  if (!isAsked) report.surprises.push('the name server was not asked');
  const neighbours = hostileUrls.filter(({ isPublic }) => isPublic);
  report.attacks = neighbours.length + 1;
  for (const { url } of neighbours) {
    await printWith(url);
    const address = new URL(url).hostname;
    if (!canaries.visits.some(({ at }) => at.startsWith(`${address}:`))) report.surprises.push(`${url} was not called`);
  }
  say(report);
}

/** Refused for where the name leads, unknown, silent, unreachable, answered with nothing of use: the caller must not learn which. */
const SAME = ['inner', 'inner-six', 'mixed', 'no-such', 'refused', 'silent', 'closed', 'public'];

export async function compareAnswers({ say }: Field, system: TestSystem): Promise<void> {
  const report = { ...emptyReport('a refused name looks like an unreachable one'), attacks: SAME.length };
  const answers = await Promise.all(
    SAME.map(async (name) => {
      const body = { ...invoice, logoUrl: `http://${name}.hostile.example/` };
      const { status, headers, body: pdf } = await print(system, body);
      const told = [...headers].filter(([header]) => !/^(date|x-request-id|traceparent)$|ratelimit/.test(header));
      const { text } = await readWords(pdf as Buffer);
      return { name, told: JSON.stringify({ status, told, text }) };
    }),
  );
  for (const { name, told } of answers) {
    if (told !== answers[0]?.told)
      report.surprises.push(`${name}: ${told.slice(0, 600)} and not ${answers[0]?.told.slice(0, 600)}`);
  }
  say(report);
}

/** The browser that is to have no wall has none: it is in our network, and no proxy was named to it. */
export function proveOpen({ say }: Field, rendererPid: number): void {
  const report = { ...emptyReport('the open browser is open'), attacks: 1 };
  const [line = ''] = execFileSync('ps', ['--ppid', String(rendererPid), '-o', 'pid=,args=', '-ww'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((text) => text.includes('--remote-debugging-pipe'));
  const network = (pid: string) => readlinkSync(`/proc/${pid}/ns/net`);
  if (network(line.trim().split(' ')[0] || '1') !== network('self')) report.surprises.push('it is in another network');
  if (line.includes('--proxy-server') || !line) report.surprises.push('it was given a proxy');
  say(report);
}
