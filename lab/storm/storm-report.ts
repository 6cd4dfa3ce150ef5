// A storm as a page of Markdown: what was broken how often, what it cost, and what was wrong.
import type { LegResult } from '../faults/leg.ts';
import type { Rates } from '../faults/load.ts';
import type { StormState } from './storm-state.ts';

export interface StormRun {
  state: StormState;
  legs: readonly LegResult[];
  rates: Rates;
  atOnce: number;
}

const BREACHES_SHOWN = 50;

export function stormReportOf({ state, legs, rates, atOnce }: StormRun): string {
  const { seed, minutes, startedAt, description, counts, breaches, failed } = state;
  const broken = [...state.broken].toSorted(([, one], [, other]) => numberOf(one.id) - numberOf(other.id));
  const times = broken.reduce((sum, [, one]) => sum + one.times, 0);
  const twice = legs.reduce((sum, leg) => sum + leg.twice, 0);
  return `${[
    `Seed ${seed}, ${minutes} minutes, ${startedAt.toISOString().slice(0, 16)}Z. ${description}.`,
    `Load: ${rates.records} calls for records, ${rates.events} new clients and ${rates.documents} documents a second; up to ${atOnce} faults at a time.`,
    '',
    `${times} faults of ${broken.length} kinds, ${counts.requests} calls (${counts.refused} refused, ${counts.unanswered} without an answer), ` +
      `${counts.documents} documents, ${counts.events} events, ${counts.deliveries} webhooks (${twice} twice), **${breaches.length} breaches**.`,
    '',
    '| Leg | Calls | Documents | Events | Webhooks (twice) | Longest | p99 before → after, records | documents | Breaches |',
    '| --- | --: | --: | --: | --: | --: | --: | --: | --: |',
    ...legs.map(rowOf),
    '',
    '| | Fault | Times | Longest |',
    '| --- | --- | --: | --: |',
    ...broken.map(
      ([title, { id, times: often, longest }]) => `| ${id} | ${title} | ${often} | ${longest.toFixed(0)} s |`,
    ),
    ...listOf('Could not be made as they should, as something they need was broken too:', failed),
    ...listOf(
      'Breaches:',
      breaches.slice(0, BREACHES_SHOWN).map(({ oracle, text }) => `${oracle}: ${text}`),
    ),
  ].join('\n')}\n`;
}

function rowOf({ name, counts, twice, longestMs, calmMs, afterMs, breaches }: LegResult): string {
  const cells = [
    name,
    counts.requests,
    counts.documents,
    counts.events,
    `${counts.deliveries} (${twice})`,
    `${(longestMs.records / 1_000).toFixed(1)} / ${(longestMs.documents / 1_000).toFixed(1)} s`,
    `${calmMs.records} → ${afterMs.records} ms`,
    `${calmMs.documents} → ${afterMs.documents} ms`,
    breaches.length,
  ];
  return `| ${cells.join(' | ')} |`;
}

const numberOf = (id: string) => Number(id.slice(1));

const listOf = (title: string, items: readonly string[]) =>
  items.length === 0 ? [] : ['', title, '', ...items.map((item) => `- ${item}`)];
