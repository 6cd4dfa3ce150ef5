// O2: the numbers of each account are 1, 2, 3 … without a hole, each once, each with its document or its tombstone.

import { documentNumber } from '#libs/models/billing/number-ledger.ts';
import { NUMBER_KINDS, type NumberKind } from '#libs/rules/documents/number-kinds.ts';
import type { RoundFacts } from '../round-facts.ts';
import { allOf } from './oracle-records.ts';

export async function judgeNumbers({ accounts, load, journal }: RoundFacts): Promise<void> {
  for (const account of accounts) {
    const answer = await load.ask({ account, kind: 'records', method: 'GET', path: '/api/v1/numbering/audit?limit=1' });
    const audit = answer?.body?.data;
    if (audit?.gapless !== true)
      journal.breach('O2', `the audit of ${account.mark} says ${JSON.stringify(audit ?? answer?.status)}`);

    const rows = await allOf('numbers', account.id);
    const numberOf = new Map<string, string>();
    for (const kind of NUMBER_KINDS) {
      const own = rows.filter((row) => row['kind'] === kind);
      const numbers = own.map(({ number }) => Number(number)).toSorted((one, other) => one - other);
      if (numbers.some((number, index) => number !== index + 1)) {
        journal.breach('O2', `the ledger of ${account.mark} for ${kind} is ${numbers.join(' ')}`);
      }
      await judgeDocuments(account, kind, own);
      for (const { _id, number } of own) numberOf.set(String(_id), documentNumber(kind, Number(number)));
    }
    for (const { id, number, account: owner } of load.records.records) {
      if (owner !== account || !id || !number || numberOf.get(id) === number) continue;
      journal.breach('O2', `${number} was given to ${id}, whose number in the ledger is ${numberOf.get(id)}`);
    }
  }

  async function judgeDocuments(
    account: (typeof accounts)[number],
    kind: NumberKind,
    rows: Awaited<ReturnType<typeof allOf>>,
  ) {
    const documents = new Map(
      (await allOf(`${kind}s`, account.id)).map((document) => [String(document._id), document]),
    );
    for (const { _id, number, deleted_at } of rows) {
      const isThere = documents.delete(String(_id));
      if (isThere === Boolean(deleted_at)) {
        journal.breach(
          'O2',
          `${kind} ${Number(number)} of ${account.mark} has ${isThere ? 'a document and a tombstone' : 'neither document nor tombstone'}`,
        );
      }
    }
    for (const id of documents.keys()) journal.breach('O2', `${kind} ${id} of ${account.mark} has no number`);
  }
}
