// The commands of the model: each does one thing to the service and to the model, and compares.
import { expect } from '@jest/globals';
import fc from 'fast-check';
import { UNKNOWN_ID } from '../../support/records.ts';
import {
  blockerOf,
  freeze,
  type Kept,
  type Kind,
  MOVES,
  type Model,
  money,
  pick,
  remove,
  secondsOf,
} from './model-state.ts';
import { EVENT_NAMES, expected, expectHidden, expectStored, type Real } from './model-system.ts';

type Who = 0 | 1;
type Command = fc.AsyncCommand<Model, Real>;

/** A command from a function, so that what it was called with is what fast-check prints. */
function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

const who = fc.constantFrom<Who>(0, 1);
const index = fc.nat({ max: 30 });
const name = fc
  .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
  .filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));
const cents = fc.nat({ max: 10_000_000 }).map((units) => units / 100);
const percent = fc.integer({ min: 0, max: 100 });
const day = fc.constantFrom('2025-12-31', '2026-01-01', '2026-02-28', '2024-02-29');
const PAST = '2020-01-01';
const FUTURE = '2099-01-01';
const kinds: Kind[] = ['clients', 'projects', 'tasks', 'time-entries', 'quotes', 'invoices'];
const kind = fc.constantFrom(...kinds);

interface Values {
  name: string;
  amount: number;
  taxRate: number;
  status: 'Draft' | 'Sent';
  day: string;
  first: number;
  second: number;
  isLate: boolean;
}
const values = fc.record<Values>({
  name,
  amount: cents,
  taxRate: percent,
  status: fc.constantFrom('Draft', 'Sent'),
  day,
  first: index,
  second: index,
  isLate: fc.boolean(),
});

/** A body, the record the model will keep, and its events; undefined without a record that it has to refer to. */
function draft(
  model: Model,
  account: Who,
  of: Kind,
  given: Values,
): { body: object; kept: Omit<Kept, 'id'>; events: string[] } | undefined {
  const { records, drawn } = model.accounts[account];
  const client = pick(records.clients, given.first);
  const project = pick(records.projects, given.second);
  const created = `${EVENT_NAMES[of]}.created`;
  if (of === 'clients') {
    const body = { name: given.name, email: 'a@example.com' };
    return { body, kept: { fields: { ...body, status: 'invited' }, refs: {} }, events: [created] };
  }
  if (of === 'projects') {
    if (!client) return undefined;
    return {
      body: { name: given.name, client_id: client.id },
      kept: { fields: { name: given.name, status: 'In Progress' }, refs: { client: client.id } },
      events: [created],
    };
  }
  if (of === 'tasks') {
    if (!project) return undefined;
    return {
      body: { name: given.name, project_id: project.id },
      kept: {
        fields: { name: given.name, status: 'todo', billable: true, total_seconds: 0 },
        refs: { project: project.id },
      },
      events: [created],
    };
  }
  if (of === 'time-entries') {
    if (!project) return undefined;
    const task = pick(
      records.tasks.filter(({ refs }) => refs.project === project.id),
      given.first,
    );
    const hours = 1 + given.first / 4;
    const body = {
      project_id: project.id,
      hours,
      date: given.day,
      description: given.name,
      ...(task ? { task_id: task.id } : {}),
    };
    return {
      body,
      kept: {
        fields: { hours, date: given.day, description: given.name },
        refs: { project: project.id, task: task?.id ?? null },
      },
      events: [created],
    };
  }
  if (!client) return undefined;
  const ofTheClient = records.projects.filter(({ refs }) => refs.client === client.id);
  const clientsProject = pick(ofTheClient, given.second);
  const isInvoice = of === 'invoices';
  const own = isInvoice ? drawn.invoice : drawn.quote;
  const number = `${isInvoice ? 'INV' : 'QUO'}-${String(own + 1).padStart(4, '0')}`;
  const until = given.isLate ? PAST : FUTURE;
  const { status } = given;
  const body = {
    client_id: client.id,
    amount: given.amount,
    tax_rate: given.taxRate,
    status,
    ...(isInvoice ? { due_date: until } : { expires_at: until }),
    ...(clientsProject ? { project_id: clientsProject.id } : {}),
  };
  return {
    body,
    kept: {
      fields: {
        ...money(given.amount, given.taxRate),
        status,
        ...(isInvoice ? { invoice_number: number, due_date: until } : { quote_number: number, expires_at: until }),
      },
      refs: { client: client.id, project: clientsProject?.id ?? null },
    },
    events: status === 'Sent' ? [created, `${EVENT_NAMES[of]}.sent`] : [created],
  };
}

/** Adds a record that the service has created to the model. */
function keep(model: Model, account: Who, of: Kind, made: NonNullable<ReturnType<typeof draft>>, id: string): Kept {
  const own = model.accounts[account];
  const record: Kept = { id, ...made.kept };
  own.records[of].push(record);
  if (of === 'quotes' || of === 'invoices') freeze(own, record, record.fields['status'] === 'Sent');
  own.events.push(...made.events);
  if (of === 'invoices') own.drawn.invoice += 1;
  if (of === 'quotes') own.drawn.quote += 1;
  if (of === 'time-entries') refreshTask(model, account, record.refs.task);
  return record;
}

function refreshTask(model: Model, account: Who, taskId: string | null | undefined): void {
  const task = model.accounts[account].records.tasks.find(({ id }) => id === taskId);
  if (task) task.fields['total_seconds'] = secondsOf(model.accounts[account], task.id);
}

/** From the day after its last day a sent document is shown as overdue or expired. */
function readAs(of: Kind, { fields }: Kept): Kept['fields'] {
  const until = String(fields['due_date'] ?? fields['expires_at'] ?? FUTURE);
  if (fields['status'] !== 'Sent' || until > PAST) return fields;
  if (of === 'invoices' && fields['total'] === 0) return fields;
  return { ...fields, status: of === 'invoices' ? 'Overdue' : 'Expired' };
}

const create = fc.tuple(who, kind, values).map(([account, of, given]) =>
  command(`create ${of} for ${account}: ${JSON.stringify(given)}`, async (model, real) => {
    const made = draft(model, account, of, given);
    if (!made) return;
    const reply = await real.gateway.post(`/api/v1/${of}`, made.body, real.accounts[account]);
    expect([reply.status, reply.body.error]).toEqual([201, undefined]);
    const record = keep(model, account, of, made, reply.body.data.id);
    record.fields = readAs(of, record);
    await expectStored(real, model, account, of, record);
    await expectHidden(real, account, of, record);
  }),
);

const read = fc.tuple(who, kind, index).map(([account, of, at]) =>
  command(`read ${of} ${at} of ${account}`, async (model, real) => {
    const record = pick(model.accounts[account].records[of], at);
    if (!record) return;
    const reply = await expectStored(real, model, account, of, record);
    record.etag = String(reply.headers.get('ETag'));
    const again = await real.gateway.get(`/api/v1/${of}/${record.id}`, {
      ...real.accounts[account],
      headers: { 'If-None-Match': record.etag },
    });
    expect(again.status).toBe(304);
  }),
);

const NAMED: Record<Kind, string> = {
  clients: 'name',
  projects: 'name',
  tasks: 'name',
  'time-entries': 'description',
  quotes: 'description',
  invoices: 'description',
};

const rename = fc.tuple(who, kind, index, name, fc.boolean()).map(([account, of, at, text, isGuarded]) =>
  command(
    `rename ${of} ${at} of ${account} to ${JSON.stringify(text)}${isGuarded ? ' if it is unchanged since it was read' : ''}`,
    async (model, real) => {
      const record = pick(model.accounts[account].records[of], at);
      if (!record) return;
      const path = `/api/v1/${of}/${record.id}`;
      const now = (await real.gateway.get(path, real.accounts[account])).headers.get('ETag');
      const headers = isGuarded && record.etag ? { 'If-Match': record.etag } : {};
      const reply = await real.gateway.patch(path, { [NAMED[of]]: text }, { ...real.accounts[account], headers });
      if ('If-Match' in headers && headers['If-Match'] !== now) {
        expect(reply.status).toBe(412);
      } else if (of === 'invoices' && record.fields['status'] !== 'Draft' && record.fields['description'] !== text) {
        expect([reply.status, reply.body.error]).toEqual([409, expect.stringMatching(/^Cannot change description /)]);
      } else {
        expect([reply.status, reply.body.data?.[NAMED[of]]]).toEqual([200, text]);
        record.fields[NAMED[of]] = text;
        model.accounts[account].events.push(`${EVENT_NAMES[of]}.updated`);
      }
      await expectStored(real, model, account, of, record);
    },
  ),
);

const reach = fc.tuple(who, kind, index, fc.constantFrom('PATCH', 'DELETE')).map(([account, of, at, method]) =>
  command(`${method} ${of} ${at} of the other as ${account}`, async (model, real) => {
    const other: Who = account === 0 ? 1 : 0;
    const record = pick(model.accounts[other].records[of], at);
    if (!record) return;
    const call = { key: real.accounts[account].key, ...(method === 'PATCH' ? { body: { [NAMED[of]]: 'taken' } } : {}) };
    const reply = await real.gateway.call(method, `/api/v1/${of}/${record.id}`, call);
    expect(reply.status).toBe(404);
    await expectStored(real, model, other, of, record);
  }),
);

const erase = fc
  .tuple(who, fc.constantFrom<Kind>('clients', 'projects', 'tasks', 'time-entries', 'quotes', 'invoices'), index)
  .map(([account, of, at]) =>
    command(`delete ${of} ${at} of ${account}`, async (model, real) => {
      const own = model.accounts[account];
      const record = pick(own.records[of], at);
      if (!record) return;
      const blocker = of === 'clients' || of === 'projects' ? blockerOf(own, of, record.id) : undefined;
      const reply = await real.gateway.delete(`/api/v1/${of}/${record.id}`, real.accounts[account]);
      if (blocker) {
        expect([reply.status, reply.body.error]).toEqual([409, `Cannot delete a ${of.slice(0, -1)} with ${blocker}`]);
      } else if ((of === 'invoices' || of === 'quotes') && record.fields['status'] !== 'Draft') {
        expect([reply.status, reply.body.error]).toEqual([409, `Can only delete ${of} with Draft status`]);
      } else {
        expect([reply.status, reply.body.success]).toEqual([200, true]);
        remove(own, of, record.id);
        own.events.push(`${EVENT_NAMES[of]}.deleted`);
        if (of === 'time-entries') refreshTask(model, account, record.refs.task);
        expect((await real.gateway.get(`/api/v1/${of}/${record.id}`, real.accounts[account])).status).toBe(404);
        return;
      }
      await expectStored(real, model, account, of, record);
    }),
  );

const moveInvoice = fc.tuple(who, index, fc.constantFrom(...Object.keys(MOVES))).map(([account, at, to]) =>
  command(`move invoice ${at} of ${account} to ${to}`, async (model, real) => {
    const record = pick(model.accounts[account].records.invoices, at);
    if (!record) return;
    const from = String(record.fields['status']);
    const reply = await real.gateway.patch(`/api/v1/invoices/${record.id}`, { status: to }, real.accounts[account]);
    if (from !== to && !MOVES[from]?.includes(to)) {
      expect([reply.status, reply.body.error]).toEqual([409, `Cannot change status from ${from} to ${to}`]);
    } else if (to === 'Overdue' && record.fields['total'] === 0) {
      expect([reply.status, reply.body.error]).toEqual([409, 'Cannot set status Overdue: nothing is due']);
    } else {
      expect([reply.status, reply.body.data?.status]).toEqual([200, to]);
      record.fields['status'] = to;
      freeze(model.accounts[account], record, record.frozen !== undefined || to === 'Sent');
      record.fields = readAs('invoices', record);
      const { total } = record.fields as { total: number };
      const isPaid = to === 'Paid' && from !== 'Paid' && total > 0;
      record.fields['amount_paid'] = to === 'Paid' ? total : 0;
      record.fields['amount_due'] = to === 'Paid' || to === 'Cancelled' ? 0 : total;
      model.accounts[account].events.push(
        'invoice.updated',
        ...(isPaid ? ['payment.received', 'payment.recorded'] : []),
        ...(from === to || to === 'Draft' ? [] : [`invoice.${to.toLowerCase()}`]),
      );
    }
    await expectStored(real, model, account, 'invoices', record);
  }),
);

const moveQuote = fc
  .tuple(who, index, fc.constantFrom('Draft', 'Sent', 'Accepted', 'Declined', 'Expired'))
  .map(([account, at, to]) =>
    command(`move quote ${at} of ${account} to ${to}`, async (model, real) => {
      const record = pick(model.accounts[account].records.quotes, at);
      if (!record) return;
      const from = record.fields['status'];
      const reply = await real.gateway.patch(`/api/v1/quotes/${record.id}`, { status: to }, real.accounts[account]);
      expect([reply.status, reply.body.data?.status]).toEqual([200, to]);
      record.fields['status'] = to;
      freeze(model.accounts[account], record, to !== 'Draft');
      record.fields = readAs('quotes', record);
      model.accounts[account].events.push(
        'quote.updated',
        ...(from === to || to === 'Draft' ? [] : [`quote.${to.toLowerCase()}`]),
      );
      await expectStored(real, model, account, 'quotes', record);
    }),
  );

const price = fc
  .tuple(who, fc.constantFrom<'quotes' | 'invoices'>('quotes', 'invoices'), index, cents, percent)
  .map(([account, of, at, amount, taxRate]) =>
    command(`price ${of} ${at} of ${account} at ${amount} with ${taxRate} %`, async (model, real) => {
      const record = pick(model.accounts[account].records[of], at);
      if (!record) return;
      const reply = await real.gateway.patch(
        `/api/v1/${of}/${record.id}`,
        { amount, tax_rate: taxRate },
        real.accounts[account],
      );
      const next = money(amount, taxRate);
      const isSame = record.fields['amount'] === next.amount && record.fields['tax_rate'] === next.tax_rate;
      if (of === 'invoices' && record.fields['status'] !== 'Draft' && !isSame) {
        expect(reply.status).toBe(409);
        expect(reply.body.error).toMatch(/^Cannot change .* after the invoice was sent$/);
      } else {
        expect([reply.status, reply.body.error]).toEqual([200, undefined]);
        Object.assign(record.fields, next);
        if (record.fields['amount_due'] !== undefined)
          record.fields['amount_due'] = record.fields['status'] === 'Cancelled' ? 0 : next.total;
        model.accounts[account].events.push(`${EVENT_NAMES[of]}.updated`);
      }
      await expectStored(real, model, account, of, record);
    }),
  );

const work = fc.tuple(who, index, fc.integer({ min: 1, max: 40 })).map(([account, at, quarters]) =>
  command(`set the hours of entry ${at} of ${account} to ${quarters / 4}`, async (model, real) => {
    const record = pick(model.accounts[account].records['time-entries'], at);
    if (!record) return;
    const reply = await real.gateway.patch(
      `/api/v1/time-entries/${record.id}`,
      { hours: quarters / 4 },
      real.accounts[account],
    );
    expect([reply.status, reply.body.data?.hours]).toEqual([200, quarters / 4]);
    record.fields['hours'] = quarters / 4;
    refreshTask(model, account, record.refs.task);
    model.accounts[account].events.push('time_entry.updated');
    const task = model.accounts[account].records.tasks.find(({ id }) => id === record.refs.task);
    if (task) await expectStored(real, model, account, 'tasks', task);
  }),
);

const dryRun = fc.tuple(who, kind, values).map(([account, of, given]) =>
  command(`dry run of ${of} for ${account}`, async (model, real) => {
    const made = draft(model, account, of, given);
    if (!made) return;
    const reply = await real.gateway.post(`/api/v1/${of}?dry_run=true`, made.body, real.accounts[account]);
    expect([reply.status, reply.body.data?.id, reply.headers.get('Dry-Run')]).toEqual([200, null, 'true']);
  }),
);

const repeat = fc.tuple(who, kind, values, fc.constantFrom('k1', 'k2', 'k3')).map(([account, of, given, key]) =>
  command(`create ${of} for ${account} under ${key}: ${JSON.stringify(given)}`, async (model, real) => {
    const made = draft(model, account, of, given);
    if (!made) return;
    const own = model.accounts[account];
    const known = own.responses.get(key);
    const sent = `${of} ${JSON.stringify(made.body)}`;
    const call = { ...real.accounts[account], headers: { 'Idempotency-Key': key } };
    const reply = await real.gateway.post(`/api/v1/${of}`, made.body, call);
    if (!known) {
      expect(reply.status).toBe(201);
      own.responses.set(key, { body: sent, data: reply.body.data });
      const record = keep(model, account, of, made, reply.body.data.id);
      record.fields = readAs(of, record);
      const again = await real.gateway.post(`/api/v1/${of}`, made.body, call);
      expect([again.status, again.body.data, again.headers.get('Idempotent-Replayed')]).toEqual([
        201,
        reply.body.data,
        'true',
      ]);
    } else if (known.body === sent) {
      expect([reply.status, reply.body.data]).toEqual([201, known.data]);
    } else expect(reply.status).toBe(422);
  }),
);

const refer = fc.tuple(who, kind, values, fc.boolean()).map(([account, of, given, isForeign]) =>
  command(`refer ${of} of ${account} to ${isForeign ? "the other's record" : 'nothing'}`, async (model, real) => {
    const made = draft(model, account, of, given);
    const other = model.accounts[account === 0 ? 1 : 0];
    if (!made || of === 'clients') return;
    const field = of === 'tasks' || of === 'time-entries' ? 'project_id' : 'client_id';
    const foreign = pick(field === 'project_id' ? other.records.projects : other.records.clients, given.first);
    const body = { ...made.body, [field]: isForeign ? (foreign?.id ?? UNKNOWN_ID) : UNKNOWN_ID };
    expect((await real.gateway.post(`/api/v1/${of}`, body, real.accounts[account])).status).toBe(404);
  }),
);

const list = fc
  .tuple(who, kind, fc.integer({ min: 1, max: 20 }), fc.nat({ max: 20 }), fc.option(index))
  .map(([account, of, limit, offset, filtered]) =>
    command(
      `list ${of} of ${account}, ${limit} from ${offset}${filtered === null ? '' : `, of ${filtered}`}`,
      async (model, real) => {
        const own = model.accounts[account];
        const by = of === 'tasks' || of === 'time-entries' ? 'project' : 'client';
        const parent =
          filtered === null || of === 'clients'
            ? undefined
            : pick(own.records[by === 'project' ? 'projects' : 'clients'], filtered);
        const matching = own.records[of].filter(({ refs }) => !parent || refs[by] === parent.id);
        // Newest first; entries by their day, then the newest.
        const order =
          of === 'time-entries'
            ? matching.toSorted((a, b) => compare(b.fields['date'], a.fields['date']) || compare(b.id, a.id))
            : matching.toReversed();
        const query = `limit=${limit}&offset=${offset}${parent ? `&${by}_id=${parent.id}` : ''}`;
        const reply = await real.gateway.get(`/api/v1/${of}?${query}`, real.accounts[account]);
        expect(reply.body.pagination).toEqual({ total: matching.length, limit, offset });
        expect(reply.body.data).toEqual(order.slice(offset, offset + limit).map((record) => expected(own, record)));
      },
    ),
  );

const compare = (a: unknown, b: unknown) => (String(a) < String(b) ? -1 : Number(String(a) > String(b)));

const subscribe = fc.tuple(who, fc.boolean()).map(([account, isNew]) =>
  command(`${isNew ? 'add' : 'remove'} a webhook of ${account}`, async (model, real) => {
    const own = model.accounts[account];
    if (isNew && own.webhooks.length < 20) {
      const reply = await real.gateway.post(
        '/api/v1/webhooks',
        { url: 'http://127.0.0.1:9/hook' },
        real.accounts[account],
      );
      expect(reply.status).toBe(201);
      own.webhooks.push(reply.body.data.id);
    } else {
      const id = own.webhooks.pop();
      if (id) expect((await real.gateway.delete(`/api/v1/webhooks/${id}`, real.accounts[account])).status).toBe(200);
    }
    const listed = await real.gateway.get('/api/v1/webhooks?limit=100', real.accounts[account]);
    expect(listed.body.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(own.webhooks.toSorted());
  }),
);

const audit = who.map((account) =>
  command(`audit ${account}`, async (model, real) => {
    const own = model.accounts[account];
    const events = await real.gateway.get('/api/v1/events?limit=100', real.accounts[account]);
    expect(events.body.data.map(({ type }: { type: string }) => type)).toEqual(own.events.slice(0, 100));
    expect(events.body.pagination.total).toBe(own.events.length);
    const { body } = await real.gateway.get('/api/v1/numbering/audit', real.accounts[account]);
    const { invoice, quote } = own.drawn;
    const [live, offered] = [own.records.invoices.length, own.records.quotes.length];
    expect(body.data).toMatchObject({
      gapless: true,
      kinds: {
        invoice: { drawn: invoice, live, deleted: invoice - live },
        quote: { drawn: quote, live: offered, deleted: quote - offered },
      },
    });
  }),
);

export const commands = [
  create,
  create,
  create,
  create,
  read,
  rename,
  reach,
  erase,
  moveInvoice,
  moveQuote,
  price,
  work,
  dryRun,
  repeat,
  refer,
  list,
  subscribe,
  audit,
];
