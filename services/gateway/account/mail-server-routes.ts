// The account's own mail server over HTTP.
import { fieldProblem, type Problem, problemOf, validationFailed } from '#libs/errors.ts';
import {
  findMailServer,
  MailServer,
  type MailServerRecord,
  mailServerView,
} from '#libs/models/messages/mail-server.ts';
import { driverOf, insertOwn, removeOwn } from '#libs/models/records.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { canonicalHost } from '#libs/outbound/mail-place.ts';
import type { Outbound } from '#libs/outbound/outbound.ts';
import { OutboundRefused } from '#libs/outbound/target-rules.ts';
import { deleted, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { type MailServerBody, mailServerBody } from './mail-server-input.ts';
import { mailServerResponse } from './mail-server-response.ts';

const path = '/api/v1/account/mail-server';
const missing = 'Mail server not found';
/** The port on which TLS begins at once. */
const SUBMISSIONS_PORT = 465;

export const mailServerRoutes: readonly Route[] = [
  singleRead({
    path,
    operation: 'getMailServer',
    scope: 'account:read',
    missing,
    docs: { title: 'Get the mail server', summary: "Get the account's own mail server", response: mailServerResponse },
    read: readMailServer,
  }),
  route({
    method: 'put',
    path,
    operation: 'setMailServer',
    scope: 'account:write',
    body: mailServerBody,
    missing,
    rechecksKey: true,
    docs: {
      title: 'Set the mail server',
      summary: 'Send the mails of the account by a server of its own',
      description:
        'Mails that are planned from now on leave by it. Its address must be public and its certificate valid; the connection is always ' +
        'encrypted. Test it with `POST /account/mail-server/test`.',
      response: mailServerResponse,
    },
    handler: putMailServer,
  }),
  route({
    method: 'delete',
    path,
    operation: 'deleteMailServer',
    scope: 'account:write',
    missing,
    rechecksKey: true,
    docs: {
      title: 'Delete the mail server',
      summary: 'Send the mails of the account by the server of the installation again',
      description:
        'Its password is removed. Messages that wait for it leave by the server of the installation; without one they fail.',
      message: 'Mail server deleted',
    },
    handler: deleteMailServer,
  }),
  route({
    method: 'post',
    path: `${path}/test`,
    operation: 'testMailServer',
    scope: 'account:write',
    missing,
    docs: {
      title: 'Test the mail server',
      summary: 'Connect to the mail server and log in, without a mail',
      description: 'The mail service does it within seconds. `test` of the mail server then has what it said.',
      response: mailServerResponse,
      status: 202,
    },
    handler: testMailServer,
  }),
];

async function readMailServer({ caller, session }: Reading) {
  const server = await findMailServer(caller.accountId, session);
  return server && mailServerView(server);
}

async function putMailServer({ body, commit, parts: { outbound, box } }: Context<MailServerBody>) {
  return commit(
    async ({ session, accountId }, host: string) => {
      const before = await findMailServer(accountId, session);
      const user = body.user || undefined;
      const isSameLogin = before?.user === user && before?.host === host && before?.port === body.port;
      const secret = body.password ? box.seal(body.password) : isSameLogin ? before?.secret : undefined;
      requireWholeLogin({ user, secret });
      const tls = body.tls ?? (body.port === SUBMISSIONS_PORT ? 'implicit' : 'starttls');
      const record: MailServerRecord = {
        ...newRecord(accountId),
        ...(before ? { created_at: before.created_at } : {}),
        host,
        port: body.port,
        tls,
        ...(user ? { user, secret } : {}),
        from: body.from,
        ...(body.bounce_domain ? { bounce_domain: body.bounce_domain.toLowerCase() } : {}),
      };
      if (before) await removeOwn(MailServer, before, session);
      await insertOwn(MailServer, record, session);
      return updated(mailServerView(record));
    },
    () => vettedHost(body, outbound),
  );
}

/** @throws AppError 400 for a user without a password, or a password that no user has. */
function requireWholeLogin({ user, secret }: Pick<MailServerRecord, 'user' | 'secret'>): void {
  if ((user === undefined) === (secret === undefined)) return;
  const [field, other] = user === undefined ? ['user', 'password'] : ['password', 'user'];
  throw fieldProblem(field as string, 'required_with', { other: other as string });
}

/** @throws AppError 400 with the class of the reason in brackets. */
async function vettedHost({ host, port }: MailServerBody, outbound: Outbound): Promise<string> {
  try {
    const name = canonicalHost(host);
    await outbound.vetMailServer({ host: name, port }).catch((error: unknown) => {
      // A name may be set before it exists, because each connection resolves it again.
      if (!(error instanceof OutboundRefused) || error.reason !== 'dns') throw error;
    });
    return name;
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    throw validationFailed([refusal(error)]);
  }
}

function refusal({ reason }: OutboundRefused): Problem {
  return reason === 'port' ? problemOf('port', 'mail_port_rejected') : problemOf('host', 'host_rejected', { reason });
}

async function deleteMailServer({ commit, missing: notFound }: Context) {
  return commit(async ({ session, accountId }) => {
    const server = await findMailServer(accountId, session);
    if (!server) throw notFound();
    await removeOwn(MailServer, server, session);
    return deleted('Mail server deleted');
  });
}

async function testMailServer({ commit, missing: notFound }: Context) {
  return commit(async ({ session, accountId }) => {
    const server = await findMailServer(accountId, session);
    if (!server) throw notFound();
    const now = new Date();
    // A test that waits is the one that was asked for.
    if (server.test_due_at) return { ...updated(mailServerView(server)), status: 202 };
    const test = { requested_at: now };
    const { _id, account_id } = server;
    await driverOf(MailServer).updateOne(
      { _id, account_id },
      { $set: { test, test_due_at: now } as never },
      { session },
    );
    return { ...updated(mailServerView({ ...server, test })), status: 202 };
  });
}
