// The alarms of the overview. A part that cannot be read never looks like a healthy one.
import { expect, test } from '@jest/globals';
import type { BulkRecord } from '#libs/models/operations/bulk-run.ts';
import { renderPage } from '#libs/pages/html.ts';
import { alarmsOf } from '../../../services/operations/monitoring/alarms.ts';
import type { Numbers } from '../../../services/operations/monitoring/numbers.ts';
import { deliveries, renders } from '../../../services/operations/pages/overview-traffic.ts';
import type { RequestStep, RequestSums } from '../../../services/operations/store/request-figures.ts';

const well: Numbers = {
  readAt: new Date(),
  sampledSince: { value: undefined },
  queues: { value: [] },
  workers: { value: { workers: [], orphans: [] } },
  redis: {
    value: [
      {
        name: 'Redis',
        isPrimary: true,
        replicas: 0,
        version: '8.0.0',
        serverVersion: '8.0.0',
        isValkey: false,
        policy: 'noeviction',
        usedBytes: 1_000_000,
        maxBytes: 0,
        isAppendOnly: true,
        clients: 1,
        clockAheadMs: 0,
        roundTripMs: 1,
      },
    ],
  },
  requests: {
    value: { steps: [], total: { requests: 0, refused: 0, failed: 0, left: 0, p50: undefined, p95: undefined } },
  },
  renders: { value: { minutes: [], p50: undefined, p95: undefined } },
  outcomes: { value: [] },
  open: { value: { pending: 1, retrying: 2, dead: 3, held: 4 } },
  problems: {
    value: {
      failing: { count: 0, named: [] },
      suspended: { count: 0, named: [] },
      old: { count: 0, oldestMs: 0 },
      overdue: { count: 0, oldestMs: 0 },
    },
  },
  outbox: { value: { waiting: 0, oldestMs: 0 } },
  mail: { value: { overdue: { count: 0, oldestMs: 0 }, refused: { count: 0, answer: 'no answer' } } },
  scheduler: { value: { due: 0, oldestMs: 0 } },
  backup: { value: { savedAt: undefined, documents: undefined, ageMs: 0 } },
  processes: { value: [] },
  runs: { value: [] },
};
const problem = 'out of time';

test('when everything could be read and is healthy, then there is no alarm', () => {
  expect(alarmsOf(well)).toEqual([]);
});

test.each([
  'sampledSince',
  'queues',
  'workers',
  'requests',
  'renders',
  'outcomes',
  'open',
  'problems',
  'outbox',
  'mail',
  'scheduler',
  'backup',
  'processes',
  'runs',
] as const)('when %s cannot be read, then that is an alarm', (part) => {
  expect(alarmsOf({ ...well, [part]: { problem } })).toEqual([
    { tone: 'bad', text: expect.stringMatching(/ cannot be read \(out of time\)\.$/) },
  ]);
});

test('when requests fail, then a handful in a hundred is an alarm, and single ones and old ones are not', () => {
  const step = (minutesAgo: number, requests: number, failed: number) => ({
    ...(well.requests.value?.total as RequestSums),
    at: new Date(well.readAt.getTime() - minutesAgo * 60_000),
    requests,
    failed,
  });
  const alarms = (...steps: RequestStep[]) =>
    alarmsOf({ ...well, requests: { value: { steps, total: step(0, 0, 0) } } }).map(({ text }) => text);

  expect(alarms(step(1, 40, 4), step(20, 40, 40))).toEqual([]);
  expect(alarms(step(1, 1_000, 9))).toEqual([]);
  expect(alarms(step(1, 300, 3), step(2, 100, 3))).toEqual(['6 of 400 requests of the last 10 min failed (5xx).']);
});

test('when a backup is missing for two days, then that is a warning, and for a week an alarm', () => {
  const DAY_MS = 24 * 3_600_000;
  const alarms = (days: number, savedAt?: Date) =>
    alarmsOf({ ...well, backup: { value: { savedAt, documents: 1, ageMs: days * DAY_MS } } });

  expect(alarms(1.9, new Date())).toEqual([]);
  expect(alarms(3, new Date())).toEqual([{ tone: 'warn', text: 'The last recorded backup is 3 d old.' }]);
  expect(alarms(8)).toEqual([
    { tone: 'bad', text: expect.stringContaining('No backup was recorded since the first account was made, 8 d ago') },
  ]);
});

test('when processes run different versions, then they are named by version, and equal ones are no problem', () => {
  const run = (service: string, version: string) => ({ service, version, name: 'host/1', connectedMs: 1 });
  const alarms = (...all: ReturnType<typeof run>[]) =>
    alarmsOf({ ...well, processes: { value: all } }).map(({ text }) => text);

  expect(alarms(run('gateway', '1.0.0'), run('renderer', '1.0.0'))).toEqual([]);
  expect(alarms(run('gateway', '0.9.0'), run('gateway', '1.0.0'), run('renderer', '1.0.0'))).toEqual([
    expect.stringContaining('different versions: 1.0.0 (gateway, renderer) and 0.9.0 (gateway).'),
  ]);
});

test('when dates have been due for ten minutes, then the alarm says how many events are late', () => {
  const late = (oldestMs: number) => alarmsOf({ ...well, scheduler: { value: { due: 3, oldestMs } } });

  expect(late(60_000)).toEqual([]);
  expect(late(12 * 60_000)).toEqual([
    {
      tone: 'warn',
      text: 'The oldest of 3 scheduled tasks is 12 min late. Check that a scheduler runs and reaches MongoDB.',
    },
  ]);
});

test('when the mail server refuses mail, then the alarm has its answer, and mail that is not taken is another', () => {
  const mail = { overdue: { count: 1_000, oldestMs: 720_000 }, refused: { count: 1, answer: '535 Bad password' } };

  expect(alarmsOf({ ...well, mail: { value: mail } })).toEqual([
    {
      tone: 'bad',
      text: '1,000 or more messages are due, and no mail service has taken the oldest for 12 min.',
      href: '/mail?state=waiting',
    },
    {
      tone: 'warn',
      text: 'The mail server has refused 1 message at least twice. Its last answer: 535 Bad password',
      href: '/mail?state=retrying&server=installation',
    },
  ]);
});

test.each([
  [1, '1 job waits', '1 event waits for its webhooks'],
  [2, '2 jobs wait', '2 events wait for their webhooks'],
])('when %i wait, then the alarms say so in this number', (waiting, jobs, events) => {
  const queue = { name: 'q', isPaused: true, ageMs: 0, ready: waiting, active: 0, delayed: 0, failed: 0, samples: [] };
  const numbers = { ...well, queues: { value: [queue] }, outbox: { value: { waiting, oldestMs: 600_000 } } };

  expect(alarmsOf(numbers).map(({ text }) => text)).toEqual([
    `q is PAUSED. ${jobs}.`,
    `No worker is connected to q, and ${jobs}.`,
    expect.stringContaining(`${events}, the oldest since 10 min.`),
  ]);
});

test('when a run makes no progress for a minute, then a warning links to it; while it runs there is none', () => {
  const run = { _id: 'r1', title: 'Replay deliveries that are dead', state: 'running', done: 400, total: 1000 };
  const runs = (silentMs: number) => {
    const updated_at = new Date(Date.now() - silentMs);
    return { ...well, runs: { value: [{ ...run, updated_at } as unknown as BulkRecord] } };
  };

  expect(alarmsOf(runs(1_000))).toEqual([]);
  expect(alarmsOf(runs(60_000))).toEqual([
    {
      tone: 'warn',
      text: 'A run was interrupted at 400 of 1,000, and only an operator can continue it: Replay deliveries that are dead',
      href: '/bulk/r1',
    },
  ]);
});

test('when open deliveries or the outbox cannot be read, then the card shows no number for them', () => {
  const card = (numbers: Numbers) => renderPage(deliveries(numbers));
  expect(card(well)).toMatch(/Pending<.*>1<.*Dead<.*>3<.*Held<.*>4<.*Outbox: empty/s);

  const noStates = card({ ...well, open: { problem } });
  const noOutbox = card({ ...well, outbox: { problem } });

  expect(noStates).toContain('This cannot be read now: out of time');
  expect(noStates).not.toMatch(/Pending|Held/);
  expect(noOutbox).toContain('This cannot be read now: out of time');
  expect(noOutbox).not.toContain('Outbox');
});

test('when something ended in this very minute, then it counts for the last hour', () => {
  const at = new Date();
  const numbers = {
    ...well,
    outcomes: { value: [{ at, delivered: 7, dead: 5 }] },
    renders: { value: { minutes: [{ at, done: 3, failed: 2, p95: 18 }], p50: 18, p95: 18 } },
  };

  expect(renderPage(deliveries(numbers))).toMatch(/Delivered<.*>7<.*5 in the last hour/s);
  expect(renderPage(renders(numbers))).toMatch(/Not rendered<.*>2</s);
});

test('when more deliveries wait than are counted, then the number shows it', () => {
  const many: Numbers = {
    ...well,
    open: { value: { pending: 100_000, retrying: 0, dead: 3, held: 100_000 } },
    outbox: { value: { waiting: 10_000, oldestMs: 600_000 } },
  };

  expect(alarmsOf(many)).toContainEqual(
    expect.objectContaining({ text: expect.stringMatching(/^10,000 or more events wait for their webhooks/) }),
  );
  const page = renderPage(deliveries(many));
  expect(page).toContain('10,000 or more events, the oldest');
  expect(page.match(/100K or more/g)).toHaveLength(2);
});
