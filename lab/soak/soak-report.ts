// A soak as a table: what grew how fast beside what it may, and whether enough was done meanwhile.

import { type Growth, growthOf, warmUpHours } from '../../test/support/growth.ts';
import type { LegCounts } from './leg.ts';
import type { SoakRun } from './run-soak.ts';

/** Documents that each hour must print. */
const DOCUMENTS_PER_HOUR = 5_000;
const BREACHES_SHOWN = 50;

export interface SoakVerdict {
  growth: Growth[];
  documents: number;
  documentsWanted: number;
  breaches: number;
  pass: boolean;
}

export function judgeSoak(run: SoakRun): SoakVerdict {
  const growth = growthOf(run.readings, run.hours);
  const documents = sumOf(run, 'documents');
  const documentsWanted = Math.floor(run.hours * DOCUMENTS_PER_HOUR);
  const breaches = allBreaches(run).length;
  const pass = breaches === 0 && documents >= documentsWanted && growth.every((row) => row.pass);
  return { growth, documents, documentsWanted, breaches, pass };
}

export function soakReportOf(run: SoakRun): string {
  const { hours, seed, rates, description, startedAt, readings, legs } = run;
  const { growth, documents, documentsWanted, breaches } = judgeSoak(run);
  const sum = (name: keyof LegCounts) => sumOf(run, name);
  const twice = legs.reduce((total, leg) => total + leg.twice, 0);
  return `${[
    `Seed ${seed}, ${hours} hours, ${startedAt.toISOString().slice(0, 16)}Z. ${description}.`,
    `Load: ${rates.records} calls for records, ${rates.events} new clients and ${rates.documents} documents a second, in ${legs.length} legs, each judged at its end.`,
    '',
    `${sum('requests')} calls (${sum('refused')} refused, ${sum('unanswered')} without an answer), ${documents} documents (target ≥ ${documentsWanted}: ` +
      `${documents >= documentsWanted ? 'pass' : '**MISSED**'}), ${sum('events')} events, ${sum('deliveries')} webhooks (${twice} twice), **${breaches} breaches**.`,
    '',
    `${readings.length} readings; the first ${(warmUpHours(hours) * 60).toFixed(0)} minutes do not count.`,
    '',
    '| | Hourly medians | Most | An hour | Target | |',
    '| --- | --: | --: | --: | --- | --- |',
    ...growth.map(rowOf),
    '',
    '| Leg | Calls | Documents | p99 first → last minute, records | documents | Breaches |',
    '| --- | --: | --: | --: | --: | --: |',
    ...legs.map(
      ({ name, counts, calmMs, afterMs, breaches: own }) =>
        `| ${name} | ${counts.requests} | ${counts.documents} | ${calmMs.records} → ${afterMs.records} ms | ${calmMs.documents} → ${afterMs.documents} ms | ${own.length} |`,
    ),
    ...(breaches > 0 ? [''] : []),
    ...allBreaches(run)
      .slice(0, BREACHES_SHOWN)
      .map(({ oracle, text }) => `- ${oracle}: ${text}`),
  ].join('\n')}\n`;
}

function rowOf({ name, hourly, most, perHour, target, pass }: Growth): string {
  const grown = `${perHour >= 0 ? '+' : '−'}${shown(Math.abs(perHour))}`;
  const verdict = target ? (pass ? 'pass' : '**MISSED**') : '';
  return `| ${[name, hourly.map(shown).join(', '), shown(most), grown, target, verdict].join(' | ')} |`;
}

const shown = (value: number) => (Math.abs(value) < 100 ? value.toFixed(1) : value.toFixed(0));

const sumOf = ({ legs }: SoakRun, name: keyof LegCounts) => legs.reduce((total, { counts }) => total + counts[name], 0);

const allBreaches = ({ legs, breaches }: SoakRun) => [...breaches, ...legs.flatMap((leg) => leg.breaches)];
