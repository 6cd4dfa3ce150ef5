// The groups of operations, with what each is about.
import type { Route } from '../http/route.ts';

/** The tag of requests that Billhook sends. Generators make one class of each tag, and callers never call these operations. */
export const EVENT_DELIVERIES = 'Event deliveries';

/** Every tag has a description; a new resource adds its own here. */
const DESCRIPTIONS: Record<string, string> = {
  Account: 'The profile of the issuer that documents are printed from',
  Keys: 'API keys: what may call, with which scopes and until when',
  Clients: 'The customers of the account',
  Projects: 'What is done for a client',
  Tasks: 'The parts of a project, with the time spent on each',
  'Time entries': 'Hours of a day, on a project and maybe a task',
  Timers: 'Time that is being measured; a timer becomes a time entry when it stops',
  Expenses: 'What was spent on a project and is billed to its client',
  'Hour packages': 'Hours that a client paid for in advance; its time is drawn from them before any is charged',
  Unbilled: 'Time, expenses and fixed amounts that can be billed, by client and project',
  Items: 'The catalogue that lines of documents are copied from',
  Quotes: 'Offers to a client',
  Invoices: 'What a client owes, from the draft to the payment',
  'Recurring invoices': 'What is billed in a rhythm: fees, retainers, the hours of a month',
  Payments: 'Money that came, the invoices that it pays, and what went back',
  'Credit notes': 'What corrects or cancels an issued invoice, and where its sum went',
  'E-invoices': 'Received e-invoices as JSON; nothing is stored',
  Documents: 'Batches of stored invoices and quotes as PDF files',
  Messages: 'Mails about documents, and what became of each',
  Questions: 'What clients asked about documents on their page, and the answers',
  Suppressions: 'Addresses that are not mailed any more, because mail to them came back',
  'Mail templates': 'The words of mails: yours, or the standard ones in nine languages',
  Reports: 'What the whole account or a client adds up to, and what was forgotten',
  Numbering: 'The proof that numbers have neither holes nor doubles',
  'PDF tool': 'PDF documents from the data in the request; nothing is stored',
  Webhooks: 'Endpoints that events are sent to',
  Deliveries: 'Single events on their way to an endpoint',
  Events: 'The feed of everything that happened',
  'Event types': 'What the feed and the webhooks carry',
  [EVENT_DELIVERIES]: 'The calls that a webhook endpoint receives',
};

/** Tags that are not the words of the path. */
const NAMES: Readonly<Record<string, string>> = { 'generate-pdf': 'PDF tool', 'e-invoices': 'E-invoices' };

/** `/api/v1/time-entries/{id}` belongs to `Time entries`. */
export function tagOf({ path }: Pick<Route, 'path'>): string {
  const segment = path.split('/')[3] ?? 'api';
  const words = NAMES[segment] ?? segment.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** In the order of the routes. @throws an Error for a tag without a description. */
export function tagsOf(routes: readonly Pick<Route, 'path'>[]): { name: string; description: string }[] {
  return [...new Set([...routes.map(tagOf), EVENT_DELIVERIES])].map((name) => {
    const description = DESCRIPTIONS[name];
    if (description === undefined) throw new Error(`describe the tag ${name}`);
    return { name, description };
  });
}
