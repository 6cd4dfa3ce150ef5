// Response shape of an account's own mail server. It has no password.
import Joi from 'joi';
import { MAIL_SERVER_TLS } from '#libs/models/messages/mail-server.ts';
import { exampleTime, orNull, timestamp, words } from '#libs/responses/response-fields.ts';

export const mailServerResponse = Joi.object({
  host: words().description('The name of the server'),
  port: Joi.number().integer().required().description('The port of the server'),
  tls: Joi.string()
    .valid(...MAIL_SERVER_TLS)
    .required()
    .description('When TLS begins'),
  user: orNull(Joi.string()).description('The name to log in with'),
  from: words().description('The address of the sender'),
  bounce_domain: orNull(Joi.string()).description('The domain of return paths'),
  test: orNull(
    Joi.object({
      state: Joi.string().valid('waiting', 'passed', 'failed').required().description('What became of the test'),
      requested_at: timestamp(),
      at: orNull(Joi.string().isoDate()).description('When the connection was tried'),
      code: orNull(Joi.string()).description('The code of the reply of the mail server'),
      text: orNull(Joi.string()).description('The words of the mail server, or why it was not reached'),
    }).meta({ schema: 'MailServerCheck' }),
  ).description('The last test since the server was set'),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('MailServer')
  .example({
    host: 'smtp.north.example',
    port: 587,
    tls: 'starttls',
    user: 'billing@north.example',
    from: 'billing@north.example',
    bounce_domain: null,
    test: { state: 'passed', requested_at: exampleTime, at: exampleTime, code: null, text: null },
    created_at: exampleTime,
    updated_at: exampleTime,
  });
