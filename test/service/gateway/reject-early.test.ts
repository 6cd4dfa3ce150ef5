// A document request reserves a place before its body is read only if its key was used a moment ago.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeApiKey } from '#libs/api-key.ts';
import { AppError } from '#libs/errors.ts';
import { openFairLimit } from '#libs/fair-limit.ts';
import { openByteCapacity } from '#libs/http/byte-capacity.ts';
import { openAdmission } from '#libs/printing/admission.ts';
import { requestHandler } from '../../../services/gateway/http/handle-request.ts';
import type { GatewayParts } from '../../../services/gateway/http/parts.ts';
import type { Route } from '../../../services/gateway/http/route.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { pdfOf } from '../../support/pdf-body.ts';
import { routeTable } from '../../support/route-table.ts';

const PDF_TOOL = '/api/tools/generate-pdf';
const STRANGERS = 50;
/** Fewer than STRANGERS, which would fill it. */
const WAITING_MAX = 10;

let gateway: TestGateway;
/** The ids of the accounts that reserved a place. */
let reservedBy: (string | undefined)[] = [];
beforeAll(async () => {
  const admission = openAdmission({ waiting: WAITING_MAX });
  const print = () => Promise.reject(new AppError('document_not_printed', 'Admitted and not printed'));
  const reserve: typeof admission.reserve = (requestId, accountId) => {
    reservedBy.push(accountId);
    return admission.reserve(requestId, accountId);
  };
  gateway = await startGateway({ print: Object.assign(print, { admission: { ...admission, reserve } }) });
  await gateway.get('/api/v1/clients');
});
afterAll(() => gateway.close());

const ask = (key: string | undefined) => gateway.post(PDF_TOOL, pdfOf('Invoice'), { key });

test.each([
  ['no key', undefined],
  ['a key of the right form that does not exist', makeApiKey()],
  ['a malformed key', 'x'],
])(
  'when many requests for documents come with %s, then they reserve no place, and a valid caller is admitted',
  async (_what, key) => {
    reservedBy = [];

    const strangers = Promise.all(Array.from({ length: STRANGERS }, () => ask(key)));
    const caller = await ask(gateway.account.key);

    expect(new Set((await strangers).map(({ status }) => status))).toEqual(new Set([401]));
    expect(caller.status).toBe(422);
    // The caller's key is cached for only a second: on a busy machine it may not reserve a place either.
    expect(reservedBy.filter((id) => id !== gateway.account.id)).toEqual([]);
  },
);

test('when a document is rejected, then that happens before the request waits for its fair share', async () => {
  const row = routeTable.find(({ operation }) => operation === 'generatePdf') as Route;
  const rejected = { code: 'too_many_waiting_documents', seconds: 1 } as const;
  const print = Object.assign(() => Promise.reject(new Error('admitted')), {
    admission: { ...openAdmission(), rejection: () => rejected },
  });
  const capacity = openByteCapacity({ perAccount: 1_000_000, all: 1_000_000 });
  const handle = requestHandler(row, {
    parts: { print } as unknown as GatewayParts,
    capacity: { bodies: capacity, responses: capacity },
    bodyLimit: openFairLimit(1),
    requestFairShare: { start: () => new Promise<never>(() => undefined), isShared: () => false },
  });
  const request = { id: '1', rawHeaders: [], get: () => `Bearer ${gateway.account.key}` };

  await expect(handle(request as never, { locals: {} } as never)).rejects.toMatchObject({ status: 503 });
});
