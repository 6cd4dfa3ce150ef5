// A document of a batch that ends the renderer that prints it is set aside after three renderers: recorded, shown, and counted as failed.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RoundTry, TRIES_MAX } from '#libs/models/operations/round-try.ts';
import { examineSetAside } from '../../../services/admin/doctor-set-aside.ts';
import { eventually } from '../../support/eventually.ts';
import type { AnyRecord } from '../../support/records.ts';
import { type PictureHost, startPictureHost } from '../../support/renderer/picture-host.ts';
import type { SpawnedService } from '../../support/spawn-service.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';

/** Only ends a hang: each death is noticed when the lease of the job has expired, 10 to 15 s later. */
const FINISHED_LIMIT_MS = 240_000;

let system: TestSystem;
let pictures: PictureHost;
beforeAll(async () => {
  system = await startSystem();
  pictures = await startPictureHost();
});
afterAll(async () => {
  pictures.close();
  await system.close();
});

const api = async (method: string, path: string, body?: object): Promise<AnyRecord> =>
  (await system.call(method, `/api/v1/${path}`, body ? { body } : {})).body.data;

test(
  'when a document of a batch ends each renderer that prints it, then three have ended, it alone fails, and the operator sees it',
  async () => {
    const client = await api('POST', 'clients', { name: 'Ada Lovelace', email: 'ada@client.example' });
    const fields = { client_id: client.id, due_date: '2099-12-31', amount: 100, description: 'Work', status: 'Sent' };
    const sound = await api('POST', 'invoices', fields);
    const killed: SpawnedService[] = [];
    let renderer = system.renderers[0] as SpawnedService;
    // A renderer that fetches the logo is printing the document.
    pictures.answer = () => {
      killed.push(renderer);
      renderer.kill('SIGKILL');
      void system.spawn('renderer').then((next) => (renderer = next));
    };
    const batch = (record: AnyRecord) => api('POST', 'documents', { documents: [{ type: 'invoice', id: record.id }] });
    const finished = (id: string) =>
      eventually(async () => {
        const read = await api('GET', `documents/${id}`);
        return read.completed_at !== null && read;
      }, FINISHED_LIMIT_MS);

    expect(await finished((await batch(sound)).id)).toMatchObject({ status: 'done' });
    await api('PATCH', 'account', { logo_url: pictures.address() });
    const deadly = await api('POST', 'invoices', fields);
    const ended = await finished((await batch(deadly)).id);

    expect(ended).toMatchObject({
      status: 'failed',
      documents: [{ error: 'The document could not be printed', error_code: 'document_not_printed' }],
    });
    expect(killed).toHaveLength(TRIES_MAX);
    expect(await RoundTry.findOne({ account_id: system.account.id }).lean()).toMatchObject({
      round: 'documents of batches',
      error: expect.stringContaining('renderer ended'),
      error_id: expect.any(String),
    });
    expect(JSON.stringify(await examineSetAside())).toContain(deadly.id);
  },
  FINISHED_LIMIT_MS * 2,
);
