// Every command of the services that a sharded cluster sends to all shards, with its reason and what it costs as accounts grow. The page
// docs/scale.md has the same table. `admin` is not among them: its commands look at everything because an operator asks them to.

export interface AllShards {
  /** The name of the work or service that asks. */
  by: string;
  collections: readonly string[];
  /** `reads` are find, count, distinct and aggregate. Changes of one record always name the account. */
  kind: 'reads' | 'changes of many';
  /** The filter has no other fields. */
  fields: readonly string[];
  reason: string;
  cost: string;
}

const DUE = 'it looks for due work of all accounts';
const BY_INDEX = 'each shard reads one batch along its index; nothing more as accounts grow';
const OPERATOR = 'an operator looks at all accounts';
const BY_ID = 'a batch has the work of many accounts, by ids';
const EACH_ID = 'each shard looks for at most 200 ids; nothing more as accounts grow';
const LIMITED = 'along an index, with a limit of 5 s; grows with the records of the time that is looked at';
const COUNTED = 'along an index, up to a limit; nothing more as accounts grow';

export const COMMANDS_TO_ALL_SHARDS: readonly AllShards[] = [
  { by: 'relay', collections: ['events'], kind: 'reads', fields: ['due_at'], reason: DUE, cost: BY_INDEX },
  {
    by: 'relay',
    collections: ['events'],
    kind: 'changes of many',
    fields: ['_id', 'due_at'],
    reason: BY_ID,
    cost: EACH_ID,
  },
  { by: 'fan-out', collections: ['events'], kind: 'reads', fields: ['_id'], reason: BY_ID, cost: EACH_ID },
  { by: 'fan-out', collections: ['events'], kind: 'changes of many', fields: ['_id'], reason: BY_ID, cost: EACH_ID },
  {
    by: 'fan-out',
    collections: ['webhook_endpoints'],
    kind: 'reads',
    fields: ['account_id'],
    reason: 'a batch has the events of many accounts',
    cost: 'the shards of these accounts only',
  },
  {
    by: 'deliveries',
    collections: ['webhook_endpoints'],
    kind: 'reads',
    fields: ['_id'],
    reason: BY_ID,
    cost: EACH_ID,
  },
  {
    by: 'deliveries',
    collections: ['deliveries'],
    kind: 'changes of many',
    fields: ['_id', 'lease_id', 'lease_until', 'next_at', 'status'],
    reason: BY_ID,
    cost: EACH_ID,
  },
  {
    by: 'deliveries',
    collections: ['deliveries'],
    kind: 'reads',
    fields: ['_id', 'lease_id'],
    reason: BY_ID,
    cost: EACH_ID,
  },
  {
    by: 'delivery poller',
    collections: ['deliveries'],
    kind: 'reads',
    fields: ['due_at'],
    reason: DUE,
    cost: BY_INDEX,
  },
  {
    by: 'reconciler of endpoints',
    collections: ['endpoint_reconciles'],
    kind: 'reads',
    fields: ['since'],
    reason: DUE,
    cost: BY_INDEX,
  },
  {
    by: 'rounds',
    collections: ['round_tries'],
    kind: 'reads',
    fields: ['_id', 'round'],
    reason: DUE,
    cost: 'records that failed before, few',
  },
  {
    by: 'expiry poller',
    collections: ['invoices', 'quotes', 'promises'],
    kind: 'reads',
    fields: ['expires_on'],
    reason: DUE,
    cost: BY_INDEX,
  },
  {
    by: 'poller of reminders',
    collections: ['invoices'],
    kind: 'reads',
    fields: ['reminder_due_at'],
    reason: DUE,
    cost: BY_INDEX,
  },
  {
    by: 'poller of recurring invoices',
    collections: ['recurring_invoices'],
    kind: 'reads',
    fields: ['_id', 'next_on', 'retry_on', 'status'],
    reason: DUE,
    cost: BY_INDEX,
  },
  { by: 'mail poller', collections: ['messages'], kind: 'reads', fields: ['due_at'], reason: DUE, cost: BY_INDEX },
  {
    by: 'tester of mail servers',
    collections: ['mail_servers'],
    kind: 'reads',
    fields: ['test_due_at'],
    reason: DUE,
    cost: BY_INDEX,
  },
  {
    by: 'remover of old mails',
    collections: ['mail_sources'],
    kind: 'reads',
    fields: ['expires_at'],
    reason: DUE,
    cost: BY_INDEX,
  },
  {
    by: 'dashboard, deliveries',
    collections: ['deliveries'],
    kind: 'reads',
    fields: [
      '$expr',
      '_id',
      'attempts_made',
      'created_at',
      'due_at',
      'event_type',
      'request_id',
      'settled_at',
      'status',
      'updated_at',
    ],
    reason: OPERATOR,
    cost: LIMITED,
  },
  {
    by: 'dashboard, mail',
    collections: ['messages'],
    kind: 'reads',
    fields: ['_id', 'due_at', 'recipients.state'],
    reason: OPERATOR,
    cost: COUNTED,
  },
  {
    by: 'dashboard, documents',
    collections: ['render_records'],
    kind: 'reads',
    fields: ['_id', 'account_id', 'created_at', 'duration_ms', 'error_class', 'request_id', 'status'],
    reason: OPERATOR,
    cost: LIMITED,
  },
  {
    by: 'dashboard, business',
    collections: ['invoices'],
    kind: 'reads',
    fields: ['issue_date'],
    reason: OPERATOR,
    cost: LIMITED,
  },
  {
    by: 'dashboard, business',
    collections: ['payments'],
    kind: 'reads',
    fields: ['date'],
    reason: OPERATOR,
    cost: LIMITED,
  },
  {
    by: 'dashboard, endpoints',
    collections: ['webhook_endpoints'],
    kind: 'reads',
    fields: ['_id', 'account_id', 'disabled_reason', 'enabled', 'failures'],
    reason: OPERATOR,
    cost: COUNTED,
  },
  {
    by: 'dashboard, accounts',
    collections: ['counters'],
    kind: 'reads',
    fields: ['_id'],
    reason: OPERATOR,
    cost: 'the accounts of one page',
  },
  {
    by: 'dashboard, failures',
    collections: ['round_tries'],
    kind: 'reads',
    fields: ['error_id'],
    reason: OPERATOR,
    cost: COUNTED,
  },
  {
    by: 'gateway, batches of documents',
    collections: ['document_batches'],
    kind: 'reads',
    fields: ['due_at'],
    reason: DUE,
    cost: BY_INDEX,
  },
];
