// The throughput of the last hour: requests, documents and deliveries.
import type { VNode } from 'preact';
import { WAITING_COUNTED_MAX } from '#libs/models/webhooks/outbox.ts';
import { count, countedUpTo, countUpTo, duration } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { stat } from '#libs/pages/parts.ts';
import { COUNTED_MAX, chartWindow, type Numbers, shown } from '../monitoring/numbers.ts';
import { axis, bars, highest, line, perStep } from '../views/charts.ts';
import { requestCard } from './requests.ts';

export function requests(numbers: Numbers): VNode {
  return html`<div>
    <h2><a href="/requests">API requests</a></h2>
    ${shown(numbers.requests, (reading) => requestCard(reading, chartWindow(numbers, reading.steps), { label: 'the last hour' }))}
  </div>`;
}

export function renders(numbers: Numbers): VNode {
  return html`<div>
    <h2><a href="/renders">Renders</a></h2>
    ${shown(numbers.renders, ({ minutes, p50, p95 }) => {
      const window = chartWindow(numbers, minutes);
      const done = perStep(minutes, window, (minute) => minute?.done ?? 0);
      const failed = perStep(minutes, window, (minute) => minute?.failed ?? 0);
      const slow = perStep(minutes, window, (minute) => minute?.p95);
      // The current minute counts here, although the chart leaves it out.
      const failures = total(minutes.map((minute) => minute.failed));
      return html`<div class="card">
        <dl class="stats">
          ${stat('Per minute', count(rate(done)), { detail: 'last 5 min' })}
          ${stat('Half within', p50 === undefined ? '–' : duration(p50), { detail: 'p50, last hour' })}
          ${stat('Most within', p95 === undefined ? '–' : duration(p95), { detail: 'p95, last hour' })}
          ${stat('Not rendered', count(failures), { detail: 'last hour', ...(failures > 0 ? { tone: 'bad' } : {}) })}
        </dl>
        ${bars(
          [
            { name: 'good', values: done },
            { name: 'bad', values: failed },
          ],
          `Documents per minute in the last hour: ${total(done)} rendered, ${total(failed)} not`,
        )}
        ${axis(window, `at most ${count(highest(done.map((value, index) => value + (failed[index] ?? 0))))} per minute`)}
        <p class="legend">p95 per minute, at most ${duration(highest(slow))}</p>
        ${line({ name: 'quiet', values: slow }, 'How long 95 % of the documents of each minute took at most', 100)}
      </div>`;
    })}
  </div>`;
}

export function deliveries(numbers: Numbers): VNode {
  const { outcomes, open, outbox } = numbers;
  return html`<div>
    <h2><a href="/deliveries">Deliveries</a></h2>
    ${shown(outcomes, (minutes) => {
      const window = chartWindow(numbers, minutes);
      const delivered = perStep(minutes, window, (minute) => minute?.delivered ?? 0);
      const dead = perStep(minutes, window, (minute) => minute?.dead ?? 0);
      return html`<div class="card">
        ${shown(
          open,
          (states) => html`<dl class="stats">
            ${stat('Delivered', count(total(minutes.map((minute) => minute.delivered))), { detail: 'last hour' })}
            ${stat('Pending', link('pending', states.pending), { detail: `${count(states.retrying)} failed before` })}
            ${stat('Dead', link('dead', states.dead), { detail: `${count(total(minutes.map((minute) => minute.dead)))} in the last hour`, ...(states.dead > 0 ? { tone: 'bad' } : {}) })}
            ${stat('Held', link('held', states.held), { detail: 'endpoint disabled' })}
          </dl>`,
        )}
        ${bars(
          [
            { name: 'good', values: delivered },
            { name: 'bad', values: dead },
          ],
          `Deliveries that ended per minute in the last hour: ${total(delivered)} delivered, ${total(dead)} dead`,
        )}
        ${axis(window, `at most ${count(highest(delivered.map((value, index) => value + (dead[index] ?? 0))))} per minute`)}
        ${shown(outbox, (state) => html`<p class="legend">Outbox: ${outboxText(state)}</p>`)}
      </div>`;
    })}
  </div>`;
}

const link = (status: string, value: number) =>
  html`<a href=${`/deliveries?status=${status}`}>${countUpTo(COUNTED_MAX, value)}</a>`;

function outboxText({ waiting, oldestMs }: { waiting: number; oldestMs: number }): string {
  return waiting === 0
    ? 'empty'
    : `${countedUpTo(WAITING_COUNTED_MAX, waiting, 'event')}, the oldest ${duration(oldestMs)} old`;
}

/** Returns the mean of the last five minutes, or of all minutes of a younger system. */
const rate = (perMinute: number[]) => total(perMinute.slice(-5)) / Math.min(5, perMinute.length);

const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
