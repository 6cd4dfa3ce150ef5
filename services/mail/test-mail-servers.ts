// Tests the mail servers of accounts when they ask for it: connects, begins TLS and logs in.
import { agreedDate } from '#libs/clock.ts';
import { errorText } from '#libs/errors.ts';
import { MailServer, type MailServerRecord, type MailServerTest } from '#libs/models/messages/mail-server.ts';
import { driverOf } from '#libs/models/records.ts';
import { collectFailures } from '#libs/models/rounds.ts';
import type { OwnConnections } from './smtp/own-connections.ts';
import { readReply, withoutReply } from './smtp/smtp-reply.ts';
import { acquireTest } from './store/mail-server-tests.ts';

/** Tests of one round, each of another account. */
const AT_ONCE = 10;
/** The time for one test. */
const TEST_MS = 20_000;
/** The time after which another process makes the test of one that has died. */
const LEASE_MS = 2 * TEST_MS;

/** @returns true when there may be more. */
export async function testMailServers(own: OwnConnections, testMs = TEST_MS): Promise<boolean> {
  const failures = collectFailures();
  const due: MailServerRecord[] = [];
  // One after the other, because there is none most of the time.
  while (due.length < AT_ONCE) {
    const next = await acquireTest(LEASE_MS);
    if (!next) break;
    due.push(next);
  }
  await Promise.all(
    due.map(async (server) =>
      record(server, await outcomeOf(server, own, testMs)).catch((error: unknown) =>
        failures.add(String(server._id), error),
      ),
    ),
  );
  failures.report((count) => `the tests of ${count} mail servers could not be recorded`);
  return due.length === AT_ONCE;
}

type Outcome = Pick<MailServerTest, 'has_passed' | 'code' | 'text'>;

async function outcomeOf(server: MailServerRecord, own: OwnConnections, testMs: number): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ has_passed: false, text: 'The mail server took too long' }), testMs);
  });
  try {
    return await Promise.race([logIn(server, own), tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

async function logIn(server: MailServerRecord, own: OwnConnections): Promise<Outcome> {
  try {
    const connections = own.to(server);
    connections.drop(await connections.open({ onlyNew: true }));
    return { has_passed: true };
  } catch (error) {
    const { response } = error as { response?: string };
    const { code, text } = response === undefined ? withoutReply(errorText(error)) : readReply(response);
    return { has_passed: false, ...(code ? { code } : {}), text };
  }
}

/** A server that was set anew meanwhile has another id, and no test. */
async function record({ _id, account_id, test }: MailServerRecord, outcome: Outcome): Promise<void> {
  const done: MailServerTest = { requested_at: test?.requested_at ?? agreedDate(), at: agreedDate(), ...outcome };
  await driverOf(MailServer).updateOne(
    { _id, account_id },
    { $set: { test: done } as never, $unset: { test_due_at: 1 } as never },
  );
}
