// Mail services that are killed at each point of an attempt: no mail is lost, and none leaves twice except one whose contents had left.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { insertMailSource, mailSourceOf } from '#libs/models/messages/mail-source.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { acrossAccounts } from '#libs/models/tenant.ts';
import { eventually } from '../../support/eventually.ts';
import { insertMessage, inUnit, storedMessage, wholeMail } from '../../support/messages.ts';
import { openSmtpRelay, type Relay } from '../../support/smtp-relay.ts';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let relay: Relay;
let accountId: string;
const services: SpawnedService[] = [];

beforeAll(async () => {
  workspace = await openWorkspace();
  ({ id: accountId } = await workspace.account());
});
beforeEach(async () => {
  relay = await openSmtpRelay();
});
afterEach(async () => {
  for (const service of services.splice(0)) {
    service.kill('SIGKILL');
    await service.exited;
  }
  await relay.close();
  await Message.deleteMany({}).setOptions(acrossAccounts);
});
afterAll(() => workspace.close());

async function start(): Promise<SpawnedService> {
  const service = await spawnService('mail', workspace, {
    SMTP_URL: relay.url,
    MAIL_FROM: 'billing@example.com',
    // A minute lasts 60 ms.
    MAIL_RETRY_SCALE: '0.001',
  });
  services.push(service);
  return service;
}

/** A message whose mail was made already. */
async function ready(name: string): Promise<MessageRecord> {
  const message = await insertMessage(accountId, {
    recipients: [{ address: `${name}@example.com`, role: 'to', state: 'queued' }],
    // An attempt was made.
    revision: 1,
  });
  const source = await mailSourceOf(message, wholeMail(`Subject: ${name}\r\n\r\nHello\r\n`), new Date());
  await inUnit(accountId, ({ session }) => insertMailSource(source, session));
  return message;
}

const settled = (message: MessageRecord) =>
  eventually(async () => {
    const now = await storedMessage(message);
    return now.settled_at !== undefined && now;
  });
const copiesOf = (name: string) => relay.taken.filter(({ to }) => to[0] === `${name}@example.com`);

test('when a mail service is killed before, during and after the contents of mails, then another sends each, and only the one whose contents had left twice', async () => {
  let isHanging = true;
  relay.behave({
    onRecipient: (address) => (isHanging && address.startsWith('before') ? 'hang' : undefined),
    onContents: (address) => (isHanging && address.startsWith('during') ? 'hang' : undefined),
  });
  const after = await ready('after');
  const first = await start();
  await settled(after);
  const [before, during] = [await ready('before'), await ready('during')];
  await eventually(() => relay.named.includes('before@example.com') && copiesOf('during').length === 1);
  first.kill('SIGKILL');
  await first.exited;
  expect([(await storedMessage(before)).state, (await storedMessage(during)).state]).toEqual(['queued', 'sending']);
  isHanging = false;
  // The leases have run out, as time does it. A short timeout would end the attempts before the kill on a busy machine.
  const past = new Date(Date.now() - 10_000);
  await Message.updateMany({ account_id: accountId, lease_id: { $exists: true } }, { lease_until: past, due_at: past });
  await start();

  const ended = await Promise.all([settled(before), settled(during)]);

  expect(ended.map(({ state }) => state)).toEqual(['accepted', 'accepted']);
  expect(ended[0]?.unknown_at).toBeUndefined();
  expect(ended[1]?.attempts[0]?.text).toMatch(/ended before the server answered/);
  expect([copiesOf('before'), copiesOf('during'), copiesOf('after')].map(({ length }) => length)).toEqual([1, 2, 1]);
  expect(new Set(copiesOf('during').map(({ source }) => source)).size).toBe(1);
});

test('when a mail service is stopped while the server thinks about a mail, then it waits for the answer and exits with 0', async () => {
  let release: (() => void) | undefined;
  relay.behave({ onContents: () => new Promise<undefined>((resolve) => (release = () => resolve(undefined))) });
  const service = await start();
  const message = await ready('ada');
  const answer = await eventually(() => release);

  const stopped = service.stop();
  answer();

  expect(await stopped).toBe(0);
  expect(await storedMessage(message)).toMatchObject({ state: 'accepted', attempts_made: 1 });
});
