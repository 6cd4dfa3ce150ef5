// A document number can be assigned only once, even if the counter that draws it is wrong.
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

test('when a number is assigned a second time, then the write is rejected; another kind or account may use it', async () => {
  const accountId = newId();
  const assign = (assigned: { accountId: string; kind: 'invoice' | 'quote' }) =>
    inTransaction((session) =>
      recordNumber(session, {
        ...assigned,
        period: '',
        number: 1,
        text: `${assigned.kind} 1`,
        documentId: storedId(newId()),
      }),
    );

  await assign({ accountId, kind: 'invoice' });
  const outcome = await assign({ accountId, kind: 'invoice' }).catch((error: unknown) => error);
  expect(isDuplicate(outcome)).toBe(true);
  await assign({ accountId, kind: 'quote' });
  await assign({ accountId: newId(), kind: 'invoice' });
});
