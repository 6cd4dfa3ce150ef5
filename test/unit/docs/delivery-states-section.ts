// The part of the webhooks page that shows the state machine of a delivery, made from its table.
import { DELIVERY_GUARDS } from '#libs/models/webhooks/delivery-guards.ts';
import { DELIVERY_MOVES, DELIVERY_STATES, type Move } from '#libs/models/webhooks/delivery-states.ts';
import { withMadeSection } from './made-section.ts';
import { code, inWords, stateDiagram } from './state-machine.ts';

export const WEBHOOKS_PAGE = 'docs/webhooks.md';

/** The page with its section as the table is now. @throws Error when the page has no such section. */
export function webhooksPage(text?: string): string {
  return withMadeSection(WEBHOOKS_PAGE, { from: 'libs/models/webhooks/delivery-states.ts', section: section(), text });
}

function section(): string {
  const moves = Object.entries(DELIVERY_MOVES) as [string, Move][];
  return [stateDiagram(moves), statesTable(), movesTable(moves)].join('\n\n');
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
