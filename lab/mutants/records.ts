// Mutants of what is stored: transactions, numbers, idempotency, money.
import type { Mutant } from './mutant.ts';

const TWO_GATEWAYS = 'test/system/gateway/two-gateways.test.ts';
const CRASHES = 'test/system/lab/crashes.test.ts';

export const recordMutants: Mutant[] = [
  {
    gone: 'reads wait until a new primary knows what was acknowledged',
    edits: [{ file: 'libs/mongo/read-after-election.ts', text: 'while (catchingUp) {', instead: 'while (false) {' }],
    oracle: {
      file: 'test/system/gateway/replica-set.test.ts',
      test: 'when a new primary does not know the acknowledged writes yet',
    },
  },
  {
    gone: 'the event is written in the transaction of its record',
    edits: [
      {
        file: 'libs/models/webhooks/event.ts',
        text: 'insertMany(stored, { session });',
        instead: 'insertMany(stored);',
      },
    ],
    oracle: { file: CRASHES, test: 'when the gateway dies early in a new invoice, before its commit or after it' },
  },
  {
    gone: 'a number is drawn in the transaction of its document',
    edits: [
      {
        file: 'libs/models/counter.ts',
        text: "{ session, upsert: true, returnDocument: 'after' }",
        instead: "{ upsert: true, returnDocument: 'after' }",
      },
    ],
    oracle: { file: TWO_GATEWAYS, test: 'when creates, rejections, deletes and quotes are mixed through both' },
  },
  {
    gone: 'the index that lets a number be given once only',
    edits: [
      {
        file: 'libs/models/billing/number-ledger.ts',
        text: 'numberSchema.index({ account_id: 1, kind: 1, period: 1, number: 1 }, { unique: true });',
        instead: 'numberSchema.index({ account_id: 1, kind: 1, period: 1, number: 1 });',
      },
    ],
    oracle: { file: 'test/service/libs/number-ledger.test.ts', test: 'when a number is assigned a second time' },
  },
  {
    gone: 'the tombstone of a deleted draft',
    edits: [
      {
        file: 'services/gateway/invoices/routes.ts',
        text: '    await tombstoneNumber(session, accountId, invoice._id);\n',
        instead: '',
      },
    ],
    oracle: { file: 'test/service/gateway/numbering.test.ts', test: 'when documents are created and drafts deleted' },
  },
  {
    gone: 'an idempotency key belongs to one request, told by its fingerprint',
    edits: [
      {
        file: 'services/gateway/http/commit.ts',
        text: 'if (record.fingerprint !== fingerprint) {',
        instead: 'if (record.fingerprint === undefined) {',
      },
    ],
    oracle: { file: TWO_GATEWAYS, test: 'another body is 422 on every gateway' },
  },
  {
    gone: 'the idempotency record is written in the transaction of what the request did',
    edits: [
      {
        file: 'services/gateway/http/commit.ts',
        text: 'created_at: agreedDate() }, { session });',
        instead: 'created_at: agreedDate() });',
      },
    ],
    oracle: { file: CRASHES, test: 'when the gateway dies early in a new invoice, before its commit or after it' },
  },
  {
    gone: 'If-Match',
    edits: [
      {
        file: 'services/gateway/http/entity-tag.ts',
        text: 'if (!tagsOf(given).includes(tag)) throw',
        instead: 'if (tag === undefined) throw',
      },
    ],
    oracle: { file: 'test/service/gateway/invoices.test.ts', test: 'when If-Match names an older version, then 412' },
  },
  {
    gone: 'a dry run is undone',
    edits: [
      {
        file: 'services/gateway/http/commit.ts',
        text: 'if (isDryRun) return asDryRun(await rollBackUnitOfWork(accountId, await ready()));',
        instead: 'if (isDryRun) return asDryRun(await run(await ready()));',
      },
    ],
    oracle: { file: 'test/service/gateway/tasks.test.ts', test: 'when it is a dry run, then nothing is stored' },
  },
  {
    gone: 'money is rounded in decimals, half away from zero',
    edits: [
      {
        file: 'libs/billing/money.ts',
        text: 'return round(new Big(amount).times(unit(currency))).toNumber() + 0;',
        instead: 'return Math.round(Number(amount) * 10 ** decimalsOf(currency)) + 0;',
      },
    ],
    oracle: { file: 'test/unit/libs/money.test.ts', test: 'is counted in smallest units' },
  },
  {
    gone: 'each line is rounded before it is summed',
    edits: [
      {
        file: 'libs/billing/money.ts',
        text: 'return round(new Big(qty).times(rate).times(share).times(unit(currency)));',
        instead: 'return new Big(qty).times(rate).times(share).times(unit(currency));',
      },
    ],
    oracle: { file: 'test/unit/libs/money.test.ts', test: 'when lines are summed' },
  },
  {
    gone: 'a write to MongoDB fails when its connection has ended',
    edits: [{ file: 'libs/mongo/connection.ts', text: '  repairConnections();', instead: '' }],
    oracle: { file: 'test/service/libs/mongo-connections.test.ts', test: 'when connections end while commands begin' },
  },
];
