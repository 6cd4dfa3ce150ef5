// Writes numbers, sizes, durations and times in the form that a person reads at a glance.
import type { VNode } from 'preact';
import { html } from './html.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Writes a number: `950`, `12,400`, `1.2M`. */
export function count(value: number): string {
  return value < 100_000 ? plain.format(value) : compact.format(value);
}

/** Writes one thing or many, each with its verb if it has one: `1 job waits`, `2 jobs wait`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Writes a number that is counted up to `max`: `950`, `10,000 or more`. */
export function countUpTo(max: number, value: number): string {
  return value < max ? count(value) : `${count(value)} or more`;
}

/** Does the same as countUpTo, with the name of the things. */
export function countedUpTo(max: number, value: number, one: string, many = `${one}s`): string {
  return `${countUpTo(max, value)} ${value === 1 ? one : many}`;
}

/** Writes a share: `0 %`, `0.4 %`, `12 %`. A share that is not 0 never looks like it. */
export function share(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0 %';
  const percent = (part / whole) * 100;
  return percent < 0.1 ? 'below 0.1 %' : `${percent < 10 ? plain.format(percent) : Math.round(percent)} %`;
}

/** Writes a duration: `0 s`, `84 ms`, `1.2 s`, `3 min`, `5 h`, `2 d`. */
export function duration(ms: number): string {
  if (ms < 1) return '0 s';
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${plain.format(ms / SECOND)} s`;
  if (ms < 2 * MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < 2 * HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} d`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(value) / 10));
  return `${plain.format(value / 1024 ** power)} ${UNITS[power]}`;
}

/** Writes a time `2026-01-31 12:00:05`. It is always UTC, because operators in two places must read the same. */
function utc(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ');
}

/** Shows the time since then, with the exact time as tooltip and for machines. */
export function ago(date: Date | null | undefined, now: number = Date.now()): VNode {
  if (!date) return html`<span class="quiet">–</span>`;
  const ms = now - date.getTime();
  const text = Math.abs(ms) < SECOND ? 'now' : ms < 0 ? `in ${duration(-ms)}` : `${duration(ms)} ago`;
  return html`<time datetime=${date.toISOString()} title=${`${utc(date)} UTC`}>${text}</time>`;
}

/** Shows the exact time. */
export function moment(date: Date): VNode {
  return html`<time datetime=${date.toISOString()}>${utc(date)}</time>`;
}
