// The part of the page about mail that shows the state machine of a message, made from its table.
import { MESSAGE_GUARDS } from '#libs/models/messages/message-guards.ts';
import {
  MESSAGE_MOVES,
  MESSAGE_STATE_TABLE,
  type MessageMoveRow,
  RECIPIENT_MOVES,
} from '#libs/models/messages/message-states.ts';
import { withMadeSection } from './made-section.ts';
import { code, inWords, stateDiagram } from './state-machine.ts';

export const MAIL_PAGE = 'docs/mail.md';

/** The page with its section as the table is now. @throws Error when the page has no such section. */
export function mailPage(text?: string): string {
  return withMadeSection(MAIL_PAGE, { from: 'libs/models/messages/message-states.ts', section: section(), text });
}

function section(): string {
  const moves = Object.entries(MESSAGE_MOVES) as [string, MessageMoveRow][];
  return [stateDiagram(moves), statesTable(), movesTable(moves), recipientsTable()].join('\n\n');
}

function statesTable(): string {
  const rows = Object.entries(MESSAGE_STATE_TABLE).map(([state, { meaning }]) => `| \`${state}\` | ${meaning} |`);
  return ['| State of a message | Means |', '|---|---|', ...rows].join('\n');
}

function movesTable(moves: [string, MessageMoveRow][]): string {
  const rows = moves.map(([name, { by, from, to, guards }]) => {
    const states = `${from.length > 0 ? from.map(code).join(', ') : 'new'} → ${to === 'same' ? 'the same' : code(to)}`;
    return `| ${inWords(name)} | ${by} | ${states} | ${guards.map((guard) => MESSAGE_GUARDS[guard].text).join('; ') || 'always'} |`;
  });
  return ['| Move of a message | Made by | From → to | Only if |', '|---|---|---|---|', ...rows].join('\n');
}

function recipientsTable(): string {
  const rows = Object.entries(RECIPIENT_MOVES).map(
    ([name, { by, from, to }]) => `| ${inWords(name)} | ${by} | ${from.map(code).join(', ')} → ${code(to)} |`,
  );
  return ['| Move of one recipient | Made by | From → to |', '|---|---|---|', ...rows].join('\n');
}
