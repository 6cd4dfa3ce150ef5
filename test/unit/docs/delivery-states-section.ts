// The part of the webhooks page that shows the state machine of a delivery, made from its table.
import { readFileSync } from 'node:fs';
import { DELIVERY_GUARDS } from '#libs/models/webhooks/delivery-guards.ts';
import { DELIVERY_MOVES, DELIVERY_STATES, type Move } from '#libs/models/webhooks/delivery-states.ts';

export const WEBHOOKS_PAGE = 'docs/webhooks.md';

const BEGIN = '<!-- Made by "npm run docs" from libs/models/webhooks/delivery-states.ts; a test compares them. -->';
const END = '<!-- The end of what "npm run docs" makes. -->';

/** The page with its section as the table is now. @throws Error when the page has no such section. */
export function webhooksPage(text = readFileSync(WEBHOOKS_PAGE, 'utf8')): string {
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`${WEBHOOKS_PAGE} has no section between the marks of "npm run docs"`);
  return `${text.slice(0, start)}${BEGIN}\n\n${section()}\n\n${text.slice(end)}`;
}

function section(): string {
  const moves = Object.entries(DELIVERY_MOVES) as [string, Move][];
  return [diagram(moves), statesTable(), movesTable(moves)].join('\n\n');
}

function diagram(moves: [string, Move][]): string {
  const steps = moves.flatMap(([name, { by, from, to }]) =>
    (from.length > 0 ? from : ['[*]']).map((state) => ({
      arrow: `${state} --> ${to}`,
      label: `${inWords(name)} (${by})`,
    })),
  );
  const arrows = [...Map.groupBy(steps, ({ arrow }) => arrow)];
  const lines = arrows.map(([arrow, group]) => `  ${arrow}: ${group.map(({ label }) => label).join('<br/>')}`);
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n');
}

function statesTable(): string {
  const rows = Object.entries(DELIVERY_STATES).map(([status, { meaning }]) => `| \`${status}\` | ${meaning} |`);
  return ['| State | Means |', '|---|---|', ...rows].join('\n');
}

function movesTable(moves: [string, Move][]): string {
  const rows = moves.map(([name, { by, from, to, guards }]) => {
    const states = `${from.length > 0 ? from.map(code).join(', ') : 'new'} → ${code(to)}`;
    return `| ${inWords(name)} | ${by} | ${states} | ${guards.map((guard) => DELIVERY_GUARDS[guard].text).join('; ') || 'always'} |`;
  });
  return ['| Move | Made by | From → to | Only if |', '|---|---|---|---|', ...rows].join('\n');
}

const code = (status: string) => `\`${status}\``;

const inWords = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
