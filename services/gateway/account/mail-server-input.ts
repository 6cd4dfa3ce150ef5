// Input of an account's own mail server.
import Joi from 'joi';
import { line } from '#libs/input/kinds.ts';
import { MAIL_SERVER_TLS, type MailServerTls } from '#libs/models/messages/mail-server.ts';
import { emailForm } from '#libs/profile-forms.ts';

export interface MailServerBody {
  host: string;
  port: number;
  tls?: MailServerTls | null;
  user?: string | null;
  password?: string | null;
  from: string;
  bounce_domain?: string | null;
}

const HOST_LONGEST = 253;
const LOGIN_LONGEST = 500;
const PORT_MAX = 65_535;

export const mailServerBody = Joi.object<MailServerBody, true>({
  host: line().max(HOST_LONGEST).required().description('The name of the server; its certificate must be valid for it'),
  port: Joi.number().integer().min(1).max(PORT_MAX).required().description('25, 465 or 587'),
  tls: Joi.string()
    .valid(...MAIL_SERVER_TLS)
    .allow(null)
    .description(
      'When TLS begins: `implicit` from the start, `starttls` after a greeting. `implicit` on port 465 unless given',
    ),
  user: line().max(LOGIN_LONGEST).allow(null, '').description('The name to log in with; no login unless given'),
  password: line()
    .max(LOGIN_LONGEST)
    .allow(null, '')
    .description('Kept encrypted and never shown. Unless given, that of the same user on the same host and port stays'),
  from: emailForm(line()).required().description('The address of the sender of all mail'),
  bounce_domain: Joi.string()
    .domain({ tlds: false })
    .allow(null, '')
    .description(
      'The domain of the return path that each mail gets of its own; without it mail that comes back goes to `from`',
    ),
}).example({
  host: 'smtp.north.example',
  port: 587,
  user: 'billing@north.example',
  password: 'correct horse battery staple',
  from: 'billing@north.example',
});
