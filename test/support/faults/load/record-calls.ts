// Callers of records: they read, list, create, change and delete, and hold every answer against what must be there.

import type { Chance } from '../../chance.ts';
import type { Journal } from '../journal.ts';
import { type Collection, type ExpectedRecord, PATHS, TEXT_FIELD } from '../oracles/expected-records.ts';
import type { MarkedAccount } from './accounts.ts';
import type { Answer, Ask } from './ask.ts';

export interface RecordCalls {
  /** Makes one call of a kind that chance chooses. */
  call(): Promise<void>;
  /** Creates a client: one event for each endpoint of its account. */
  createClient(): Promise<void>;
  records: ExpectedRecord[];
  /** Sends what stayed unknown again, with the same key, as a careful caller does; some are left unknown. */
  retryUnknown(): Promise<void>;
}

/** The share of unknown writes that are never retried. */
const LEFT_UNKNOWN = 0.3;
const NOT_STORED = /^(?!.*not known).*/;
const RETRIES = 40;

export function openRecordCalls(options: {
  ask: Ask;
  accounts: readonly MarkedAccount[];
  chance: Chance;
  journal: Journal;
}): RecordCalls {
  const { ask, accounts, chance, journal } = options;
  const records: ExpectedRecord[] = [];
  let turn = 0;

  const shares: [number, () => Promise<void>][] = [
    [0.4, read],
    [0.12, list],
    [0.12, () => create('clients')],
    [0.12, () => create('invoices')],
    [0.04, () => create('quotes')],
    [0.04, () => create('projects')],
    [0.03, () => create('tasks')],
    [0.03, () => create('time_entries')],
    [0.07, change],
    [0.03, remove],
  ];

  async function call(): Promise<void> {
    let left = chance.next();
    for (const [share, act] of shares) {
      left -= share;
      if (left < 0) return await act();
    }
  }

  /** A record without a change in flight, of any account or the given one. */
  function choose(collections: readonly Collection[], account?: MarkedAccount): ExpectedRecord | undefined {
    const isFit = (record: ExpectedRecord) =>
      !record.isBusy &&
      record.presence === 'stored' &&
      collections.includes(record.collection) &&
      (account === undefined || record.account === account);
    // A few tries cost less than to look through all of them.
    for (let attempt = 0; attempt < 20 && records.length > 0; attempt += 1) {
      const record = chance.pick(records);
      if (isFit(record)) return record;
    }
    return records.find(isFit);
  }

  async function create(collection: Collection): Promise<void> {
    const account = chance.pick(accounts);
    turn += 1;
    const token = `${account.mark} ${turn}.`;
    const body = bodyOf(collection, account, token);
    if (!body) return await create('clients'); // The record it would belong to does not exist yet.
    const key = `${account.mark}-${turn}`;
    const record: ExpectedRecord = {
      account,
      collection,
      token,
      key,
      body,
      presence: 'unknown',
      texts: [token],
      isBusy: true,
    };
    records.push(record);
    const answer = await ask({ account, kind: 'records', method: 'POST', path: PATHS[collection], body, key });
    noteCreated(record, answer);
    record.isBusy = false;
  }

  function bodyOf(collection: Collection, account: MarkedAccount, token: string): object | undefined {
    const parent = (of: Collection) => choose([of], account)?.id;
    const client_id = collection === 'clients' || collection === 'tasks' ? undefined : parent('clients');
    const project_id = collection === 'tasks' || collection === 'time_entries' ? parent('projects') : undefined;
    const amount = chance.whole(1, 10_000);
    switch (collection) {
      case 'clients':
        return { name: token, email: `${account.mark}@example.com`, company_name: `${account.mark} company` };
      case 'projects':
        return client_id === undefined ? undefined : { name: token, client_id };
      case 'tasks':
        return project_id === undefined ? undefined : { name: token, project_id };
      case 'time_entries':
        return project_id === undefined ? undefined : { description: token, project_id, hours: 1, date: '2026-11-02' };
      case 'quotes':
        return client_id === undefined ? undefined : { description: token, client_id, amount };
      case 'invoices':
        return client_id === undefined ? undefined : { description: token, client_id, amount, due_date: '2099-12-31' };
    }
  }

  function noteCreated(record: ExpectedRecord, answer: Answer | undefined) {
    if (!answer) return;
    if (answer.status === 201) {
      const { data } = answer.body;
      Object.assign(record, { presence: 'stored', id: data.id, acknowledged: data });
      const number = data.invoice_number ?? data.quote_number;
      if (number) record.number = number;
    } else if (answer.status === 503) {
      // Asked again it may still be found, so only an answer that says so counts as "nothing was stored".
      record.presence = NOT_STORED.test(answer.body?.error ?? '') ? 'refused' : 'unknown';
    } else if (answer.status !== 409) {
      journal.breach(
        'O1',
        `POST ${PATHS[record.collection]} ${record.token} was answered with ${answer.status} ${answer.bytes}`,
      );
    }
  }

  async function read(): Promise<void> {
    const record = choose(['clients', 'projects', 'tasks', 'time_entries', 'quotes', 'invoices']);
    if (!record) return await create('clients');
    record.isBusy = true;
    const { account, collection, id } = record;
    const answer = await ask({ account, kind: 'records', method: 'GET', path: `${PATHS[collection]}/${id}` });
    record.isBusy = false;
    if (!answer || answer.status === 503) return;
    const text = answer.body?.data?.[TEXT_FIELD[collection]];
    if (answer.status === 200 && record.texts.includes(text)) return;
    journal.breach('O1', `${collection} ${id} was ${record.texts.join(' or ')}, is read as ${answer.status} ${text}`);
  }

  async function list(): Promise<void> {
    const account = chance.pick(accounts);
    const collection = chance.pick(Object.keys(PATHS) as Collection[]);
    await ask({ account, kind: 'records', method: 'GET', path: `${PATHS[collection]}?limit=${chance.whole(1, 20)}` });
  }

  async function change(): Promise<void> {
    const record = choose(['clients', 'tasks', 'invoices']);
    if (!record) return await create('clients');
    record.isBusy = true;
    turn += 1;
    const { account, collection, id } = record;
    const text = `${record.token} changed ${turn}`;
    const before = record.texts;
    const field = TEXT_FIELD[collection];
    record.texts = [...before, text];
    const path = `${PATHS[collection]}/${id}`;
    const answer = await ask({ account, kind: 'records', method: 'PATCH', path, body: { [field]: text } });
    if (answer?.status === 200) Object.assign(record, { texts: [text], acknowledged: answer.body.data });
    else if (answer?.status === 503 && NOT_STORED.test(answer.body?.error ?? '')) record.texts = before;
    else {
      record.acknowledged = undefined;
      if (answer && answer.status !== 503)
        journal.breach('O1', `PATCH ${path} was answered with ${answer.status} ${answer.bytes}`);
    }
    record.isBusy = false;
  }

  async function remove(): Promise<void> {
    const record = choose(['invoices', 'tasks', 'time_entries']);
    if (!record) return await create('clients');
    record.isBusy = true;
    record.presence = 'perhaps deleted';
    const { account, collection, id } = record;
    const path = `${PATHS[collection]}/${id}`;
    const answer = await ask({ account, kind: 'records', method: 'DELETE', path });
    if (answer?.status === 200) record.presence = 'deleted';
    else if (answer?.status === 503 && NOT_STORED.test(answer.body?.error ?? '')) record.presence = 'stored';
    else if (answer && answer.status !== 503)
      journal.breach('O1', `DELETE ${path} was answered with ${answer.status} ${answer.bytes}`);
    record.isBusy = false;
  }

  return {
    call,
    createClient: () => create('clients'),
    records,
    async retryUnknown() {
      for (const record of records.filter(({ presence }) => presence === 'unknown')) {
        if (chance.happens(LEFT_UNKNOWN)) continue;
        const { account, collection, body, key } = record;
        let answer: Answer | undefined;
        for (let attempt = 0; attempt < RETRIES && answer?.status !== 201; attempt += 1) {
          answer = await ask({ account, kind: 'records', method: 'POST', path: PATHS[collection], body, key });
        }
        if (answer?.status !== 201)
          journal.breach('O1', `${record.token} cannot be created again: ${answer?.status} ${answer?.bytes}`);
        noteCreated(record, answer);
      }
    },
  };
}
