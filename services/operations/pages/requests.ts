// The page of API requests: their rate, their errors, and the operations that are slow or fail.
import type { VNode } from 'preact';
import { ERRORS } from '#libs/errors/declared.ts';
import { isErrorCode } from '#libs/errors.ts';
import { NO_OPERATION, SPANS, type Span } from '#libs/models/operations/request-figures.ts';
import { count, counted, duration, moment, share } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { choiceField, live, stat, type Tone, table } from '#libs/pages/parts.ts';
import { paramsOf, textOf } from '#libs/pages/query.ts';
import type { Visit } from '../session/visit.ts';
import {
  type CodeSums,
  type OperationSums,
  type RequestReading,
  type RequestStep,
  type RequestSums,
  readRequests,
} from '../store/request-figures.ts';
import { axis, bars, type ChartWindow, highest, line, perStep, windowSince } from '../views/charts.ts';
import type { Page } from '../views/layout.ts';

const SECTION = '/requests';
const MINUTE_MS = 60_000;
/** The most operations of the page. The metrics have all of them. */
const OPERATIONS_SHOWN = 50;
const CODES_SHOWN = 30;
const OPERATIONS_NAMED = 3;

interface Period {
  label: string;
  span: Span;
  steps: number;
}

const PERIODS: Record<string, Period> = {
  hour: { label: 'the last hour', span: 'minute', steps: 60 },
  day: { label: 'the last day', span: 'ten-minutes', steps: 144 },
};

const ORDERS: Record<string, { label: string; by: (operation: OperationSums) => number }> = {
  slowest: { label: 'slowest first', by: ({ p95 }) => p95 ?? 0 },
  most: { label: 'most frequent first', by: ({ requests }) => requests },
  failed: { label: 'most failed first', by: ({ failed }) => failed },
  refused: { label: 'most refused first', by: ({ refused }) => refused },
};

export async function requestsPage({ request }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const periodName = textOf(params, 'period') ?? 'hour';
  const orderName = textOf(params, 'order') ?? 'slowest';
  const period = chosen(PERIODS, periodName, 'period');
  const order = chosen(ORDERS, orderName, 'order');
  const since = new Date(Date.now() - (period.steps + 1) * SPANS[period.span] * MINUTE_MS);
  const reading = await readRequests(period.span, since);
  const body = html`<div>
    <form class="filters" method="get" action=${SECTION}>
      ${choiceField('period', 'Since', periodName, choicesOf(PERIODS))}
      ${choiceField('order', 'Operations', orderName, choicesOf(ORDERS))}
      <div class="buttons"><button class="main">Show</button></div>
    </form>
    ${live('requests', requestCard(reading, windowOf(reading.steps, period), period))}
    ${live('operations', operationsTable(reading, order.by))}
    ${live('codes', codesTable(reading.codes))}
  </div>`;
  return { title: 'API requests', section: SECTION, body };
}

function chosen<Choice>(choices: Record<string, Choice>, name: string, what: string): Choice {
  const choice = Object.hasOwn(choices, name) ? choices[name] : undefined;
  if (!choice) throw new PageError(400, `Unknown ${what} ${name}. There are: ${Object.keys(choices).join(', ')}.`);
  return choice;
}

const choicesOf = (choices: Record<string, { label: string }>) =>
  Object.entries(choices).map(([value, { label }]) => ({ value, label }));

function windowOf(steps: readonly RequestStep[], { span, steps: limit }: Period): ChartWindow {
  return windowSince([steps[0]?.at], limit, { stepMinutes: SPANS[span] });
}

/** Shows rate, latency and errors of all operations, with their charts. The overview has it, too. */
export function requestCard(
  { steps, total }: Pick<RequestReading, 'steps' | 'total'>,
  window: ChartWindow,
  { label }: { label: string },
): VNode {
  const perMinute = (pick: (step: RequestStep) => number) =>
    perStep(steps, window, (step) => (step ? pick(step) / window.stepMinutes : 0));
  const failed = perMinute((step) => step.failed);
  const refused = perMinute((step) => step.refused);
  const others = perMinute(({ requests, failed, refused }) => requests - failed - refused);
  const all = perMinute(({ requests }) => requests);
  const slow = perStep(steps, window, (step) => step?.p95);
  const latest = all.slice(-5);
  const part = (number: number) => ({ detail: share(number, total.requests) });
  return html`<div class="card">
    <dl class="stats wide">
      ${stat('Per minute', count(latest.reduce((sum, each) => sum + each, 0) / latest.length), { detail: `last ${duration(latest.length * window.stepMinutes * MINUTE_MS)}` })}
      ${stat('Most within', total.p95 === undefined ? '–' : duration(total.p95), { detail: total.p50 === undefined ? 'p95' : `half within ${duration(total.p50)}` })}
      ${stat('Refused', count(total.refused), part(total.refused))}
      ${stat('Failed', count(total.failed), { ...part(total.failed), ...toneOf(total) })}
      ${total.left > 0 ? stat('Caller left', count(total.left), part(total.left)) : null}
    </dl>
    ${bars(
      [
        { name: 'good', values: others },
        { name: 'warn', values: refused },
        { name: 'bad', values: failed },
      ],
      `Requests per minute in ${label}: ${counted(total.requests, 'request')}, ${total.refused} refused, ${total.failed} failed`,
    )}
    ${axis(window, `at most ${count(highest(all))} per minute`)}
    <p class="legend">p95, at most ${duration(highest(slow))}</p>
    ${line({ name: 'quiet', values: slow }, `How long 95 % of the requests took at most, in ${label}`, 100)}
  </div>`;
}

const toneOf = ({ failed }: RequestSums): { tone?: Tone } => (failed > 0 ? { tone: 'bad' } : {});

function operationsTable({ operations, since }: RequestReading, by: (operation: OperationSums) => number): VNode {
  const shown = operations
    .toSorted((one, other) => by(other) - by(one) || other.requests - one.requests)
    .slice(0, OPERATIONS_SHOWN);
  const columns = [
    { name: 'Operation', cell: ({ operation }: OperationSums) => operationName(operation) },
    { name: 'Requests', isNumber: true, cell: ({ requests }: OperationSums) => count(requests) },
    { name: 'Half within', isNumber: true, cell: ({ p50 }: OperationSums) => milliseconds(p50) },
    { name: '95 % within', isNumber: true, cell: ({ p95 }: OperationSums) => milliseconds(p95) },
    { name: 'Refused', isNumber: true, cell: ({ refused, requests }: OperationSums) => withShare(refused, requests) },
    { name: 'Failed', isNumber: true, cell: ({ failed, requests }: OperationSums) => withShare(failed, requests) },
    { name: 'Caller left', isNumber: true, cell: ({ left, requests }: OperationSums) => withShare(left, requests) },
  ];
  return html`<div>
    <h2>Operations <small>since ${moment(since)} UTC</small></h2>
    ${table('Operations with their requests', columns, shown, 'No request yet.')}
    ${operations.length > shown.length ? html`<p class="quiet">and ${counted(operations.length - shown.length, 'more', 'more')}</p>` : null}
  </div>`;
}

const operationName = (operation: string) =>
  operation === NO_OPERATION
    ? html`<span class="quiet">none (the reference, unknown paths)</span>`
    : html`<code>${operation}</code>`;

const milliseconds = (ms: number | undefined) => (ms === undefined ? '–' : duration(ms));

const withShare = (number: number, all: number) => (number === 0 ? '–' : `${count(number)} (${share(number, all)})`);

function codesTable(codes: CodeSums[]): VNode {
  const columns = [
    { name: 'Code', cell: ({ code }: CodeSums) => html`<code>${code}</code>` },
    { name: 'Status', isNumber: true, cell: ({ code }: CodeSums) => (isErrorCode(code) ? ERRORS[code].status : '–') },
    { name: 'Requests', isNumber: true, cell: ({ requests }: CodeSums) => count(requests) },
    {
      name: 'Operations',
      cell: ({ operations }: CodeSums) => {
        const named = operations.slice(0, OPERATIONS_NAMED);
        const more = operations.length - named.length;
        return html`<span>
          ${named.map(({ operation, requests }, index) => html`<span>${index > 0 ? ', ' : ''}${operationName(operation)} ${count(requests)}</span>`)}
          ${more > 0 ? html`<span class="quiet"> and ${more} more</span>` : null}
        </span>`;
      },
    },
  ];
  return html`<div>
    <h2>Errors by code</h2>
    ${table('Errors by code, most frequent first', columns, codes.slice(0, CODES_SHOWN), 'No request was refused, and none failed.')}
  </div>`;
}
