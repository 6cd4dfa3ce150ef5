// The audit log of a replay has only a search that can be made, whatever a form sends.
import { expect, jest, test } from '@jest/globals';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { replayMatching } from '../../../services/operations/actions/replay.ts';

test.each(['endpoint=bh_live_1234', 'status=bh_live_1234', 'from=bh_live_1234'])(
  'when a form asks for a replay of %s, then it is rejected and not recorded',
  async (selection) => {
    const create = jest.spyOn(AuditEntry, 'create').mockRejectedValue(new Error('recorded') as never);
    const visit = { request: { body: { selection } }, visitor: { name: 'ada', address: '127.0.0.1' } };

    await expect(replayMatching.start(visit as never)).rejects.toMatchObject({ status: 400 });

    expect(create).not.toHaveBeenCalled();
    create.mockRestore();
  },
);
