// A number can be given once only, even if the counter that draws it went wrong.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recordNumber } from '#libs/models/billing/number-ledger.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

test('when a number is given a second time, then the write is refused; another kind or account is free to', async () => {
  const accountId = newId();
  const give = (given: { accountId: string; kind: 'invoice' | 'quote' }) =>
    inTransaction((session) =>
      recordNumber(session, {
        ...given,
        period: '',
        number: 1,
        text: `${given.kind} 1`,
        documentId: storedId(newId()),
      }),
    );

  await give({ accountId, kind: 'invoice' });
  const outcome = await give({ accountId, kind: 'invoice' }).catch((error: unknown) => error);
  expect(isDuplicate(outcome)).toBe(true);
  await give({ accountId, kind: 'quote' });
  await give({ accountId: newId(), kind: 'invoice' });
});
