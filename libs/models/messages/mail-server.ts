// The mail server of an account, by which its mails leave in the place of the installation's.
import type { Session } from '../../mongo/connection.ts';
import type { SecretBox } from '../../secret-box.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, recordsOf, type Stamped } from '../records.ts';
import { type Id, storedId } from '../tenant.ts';

/** `implicit`: TLS before the greeting. `starttls`: STARTTLS, or no mail. */
export const MAIL_SERVER_TLS = ['implicit', 'starttls'] as const;
export type MailServerTls = (typeof MAIL_SERVER_TLS)[number];

export interface MailServerTest {
  requested_at: Date;
  /** Absent while it waits for the mail service. */
  at?: Date | undefined;
  has_passed?: boolean | undefined;
  code?: string | undefined;
  text?: string | undefined;
}

export interface MailServerRecord extends Stamped {
  host: string;
  port: number;
  tls: MailServerTls;
  user?: string | undefined;
  /** The password in sealed form, see secret-box.ts. */
  secret?: string | undefined;
  /** The address that mail is sent from. */
  from: string;
  /** The domain of return paths. They are `from` without one. */
  bounce_domain?: string | undefined;
  /** The last test of the connection. */
  test?: MailServerTest | undefined;
  /** The time at which a mail service tests the connection. Absent unless a test was requested. */
  test_due_at?: Date | undefined;
}

const mailServerSchema = recordSchema<MailServerRecord>(
  'mail_servers',
  {
    host: { type: String, required: true },
    port: { type: Number, required: true },
    tls: { type: String, enum: MAIL_SERVER_TLS, required: true },
    user: String,
    secret: String,
    from: { type: String, required: true },
    bounce_domain: String,
    test: { _id: false, requested_at: Date, at: Date, has_passed: Boolean, code: String, text: String },
    test_due_at: Date,
  },
  { filters: [], orders: {}, standard: '' },
);
// An account has one.
mailServerSchema.index({ account_id: 1 }, { unique: true });
// Mail services look for tests of all accounts here.
mailServerSchema.index({ test_due_at: 1 }, { sparse: true });

export const MailServer = recordsOf<MailServerRecord>('MailServer', mailServerSchema);

/** Returns undefined when the account's mail leaves by the server of the installation. */
export async function findMailServer(accountId: Id, session?: Session): Promise<MailServerRecord | undefined> {
  const own = { account_id: storedId(accountId) } as object;
  const found = await driverOf(MailServer).findOne(own, session ? { session } : {});
  return (found as MailServerRecord | null) ?? undefined;
}

/** Returns the login. @throws Error when no key opens the password. */
export function loginOf(
  { user, secret }: Pick<MailServerRecord, 'user' | 'secret'>,
  box: Pick<SecretBox, 'open'>,
): { user: string; pass: string } | undefined {
  return user === undefined || secret === undefined ? undefined : { user, pass: box.open(secret) };
}

/** Returns the domain of an address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Returns the mail server in the form of the API, without its password. */
export function mailServerView(server: MailServerRecord) {
  const { test } = server;
  return {
    host: server.host,
    port: server.port,
    tls: server.tls,
    user: server.user ?? null,
    from: server.from,
    bounce_domain: server.bounce_domain ?? null,
    test: test
      ? {
          state: test.at ? (test.has_passed ? 'passed' : 'failed') : 'waiting',
          requested_at: test.requested_at.toISOString(),
          at: test.at?.toISOString() ?? null,
          code: test.code ?? null,
          text: test.text ?? null,
        }
      : null,
    created_at: server.created_at.toISOString(),
    updated_at: server.updated_at.toISOString(),
  };
}
