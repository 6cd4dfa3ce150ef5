// A run as a page of Markdown: what was broken, what it cost, and what was wrong.

import type { RoundResult } from '../../test/support/faults/round.ts';
import type { FaultRun } from '../../test/support/faults/run-faults.ts';

const HEAD = [
  [
    '',
    'Fault',
    'Calls',
    'Refused',
    'Unanswered',
    'PDFs',
    'Webhooks (twice)',
    'Longest',
    'Well after',
    'p99 before → after',
    'Breaches',
  ],
  ['---', '---', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:'],
];

/** Breaches that are shown of one fault. More would add nothing. */
const SHOWN_MAX = 10;

export function reportOf(run: FaultRun): string {
  const { results, breaches, seed, isShort, description, startedAt, minutes, rates } = run;
  const sum = (of: (result: RoundResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const rows = [...HEAD, ...results.map(rowOf)].map((cells) => `| ${cells.join(' | ')} |`);
  const wrong = [
    ...breaches.map(({ oracle, text }) => `- ${oracle}, at the end: ${text}`),
    ...results.flatMap(({ faults, breaches: own }) =>
      own
        .slice(0, SHOWN_MAX)
        .map(({ oracle, text }) => `- ${faults.map(({ id }) => id).join(', ')}, ${oracle}: ${text}`),
    ),
  ];
  return `${[
    `Seed ${seed}, ${isShort ? 'the short form' : 'the whole form'}, ${startedAt.toISOString().slice(0, 16)}Z, ${minutes.toFixed(0)} minutes. ${description}.`,
    `Load: ${rates.records} calls for records, ${rates.events} new clients and ${rates.documents} documents a second.`,
    '',
    ...rows,
    '',
    `${results.length} faults, ${sum(({ requests }) => requests)} calls, ${sum(({ documents }) => documents)} documents, ` +
      `${sum(({ events }) => events)} webhooks (${sum(({ twice }) => twice)} twice), ${wrong.length} breaches.`,
    ...(wrong.length > 0 ? ['', ...wrong] : []),
  ].join('\n')}\n`;
}

function rowOf(result: RoundResult): string[] {
  const { faults, refused, unanswered, longestMs, calmMs, afterMs, breaches } = result;
  const both = (values: { records: number; documents: number }) => `${values.records} + ${values.documents}`;
  return [
    faults.map(({ id }) => id).join(', '),
    faults.map(({ title }) => title).join(', '),
    String(result.requests),
    both(refused),
    both(unanswered),
    String(result.documents),
    `${result.events} (${result.twice})`,
    `${(longestMs.records / 1_000).toFixed(1)} / ${(longestMs.documents / 1_000).toFixed(1)} s`,
    `${result.recoverySeconds.toFixed(1)} s`,
    `${calmMs.records} → ${afterMs.records} ms, ${calmMs.documents} → ${afterMs.documents} ms`,
    breaches.length === 0 ? '0' : `**${breaches.length}**`,
  ];
}
