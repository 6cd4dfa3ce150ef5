// The variables of the mail service. It is the only service with the login of the SMTP server.
import Joi from 'joi';
import { type RecordsConfig, readEnv, recordsVariables, variables } from '#libs/service/env.ts';
import { readSender } from './sender.ts';
import { readSmtpUrl } from './smtp/smtp-url.ts';

export interface MailConfig extends RecordsConfig {
  SECRET_KEY: string;
  OUTBOUND_ALLOW: string;
  SMTP_URL?: string;
  MAIL_FROM?: string;
  MAIL_BOUNCE_DOMAIN?: string;
  PORTAL_URL?: string;
  ACCOUNT_STORAGE_MEGABYTES: number;
  MAIL_CONCURRENCY: number;
  MAIL_TIMEOUT_MS: number;
  MAIL_RETRY_SCALE: number;
}

export const configShape = Joi.object<MailConfig, true>({
  ...recordsVariables,
  SECRET_KEY: variables.SECRET_KEY,
  OUTBOUND_ALLOW: variables.OUTBOUND_ALLOW,
  SMTP_URL: Joi.string()
    .custom((value: string, { message }) => {
      const { problem } = readSmtpUrl(value);
      // The message omits the value, which may contain a password.
      return problem === undefined ? value : message({ custom: `{{#label}} ${problem}` });
    })
    .description(
      'SMTP server that takes the mail, smtp://USER:PASSWORD@HOST:587 (STARTTLS) or smtps://USER:PASSWORD@HOST:465 (TLS from the start); without it only accounts with a mail server of their own send mail',
    ),
  MAIL_FROM: Joi.string()
    .custom((value: string, { message }) =>
      readSender(value) ? value : message({ custom: '{{#label}} must be an address, or NAME <ADDRESS>' }),
    )
    .description('Sender of all mail, such as Studio North <billing@example.com>; required with SMTP_URL'),
  MAIL_BOUNCE_DOMAIN: Joi.string()
    .domain({ tlds: false })
    .description('Domain of the return path that each mail gets of its own; without it bounces come to MAIL_FROM'),
  PORTAL_URL: variables.PORTAL_URL,
  ACCOUNT_STORAGE_MEGABYTES: variables.ACCOUNT_STORAGE_MEGABYTES,
  MAIL_CONCURRENCY: Joi.number()
    .integer()
    .min(1)
    .max(100)
    .default(5)
    .description(
      'Mails that this process sends at once, each over a connection of its own; four times as many, of different accounts, by mail servers of accounts. Each is in memory meanwhile, or in a file of up to 15 MiB in the temporary folder when it is larger than 1 MiB',
    ),
  MAIL_TIMEOUT_MS: Joi.number()
    .integer()
    .min(100)
    .max(600_000)
    .default(300_000)
    .description('How long the SMTP server may say nothing during an attempt; RFC 5321 recommends minutes'),
  MAIL_RETRY_SCALE: Joi.number()
    .greater(0)
    .max(10)
    .default(1)
    .description('Multiplies every wait between attempts to send a mail; below 1 for tests and demonstrations'),
})
  .with('SMTP_URL', 'MAIL_FROM')
  .messages({ 'object.with': '{{#main}} needs {{#peer}}, the sender of all mail' });

export function readConfig(env: NodeJS.ProcessEnv): Readonly<MailConfig> {
  return readEnv(env, configShape);
}
