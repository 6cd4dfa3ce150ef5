// Mail templates over HTTP: the words of each kind of mail, and how a mail looks with them.
import { addDays, dayIn } from '#libs/day.ts';
import { writtenDay } from '#libs/mail/mail-values.ts';
import { mailWords } from '#libs/mail/mail-words.ts';
import { type MailValues, placeholdersOf } from '#libs/mail/placeholders.ts';
import { MAIL_LANGUAGES, mailLanguage, standardMailText } from '#libs/mail/standard-texts.ts';
import { type AccountRecord, readAccount } from '#libs/models/accounts/account.ts';
import { findMailTemplates, MailTemplate, type MailTemplateRecord } from '#libs/models/messages/mail-template.ts';
import { isReminder, type MessageKind } from '#libs/models/messages/message-kinds.ts';
import { insertOwn } from '#libs/models/records.ts';
import { removeBatch } from '#libs/models/remove-records.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { CURRENCY_STANDARD } from '#libs/rules/money/money.ts';
import { writtenMoney } from '#libs/rules/money/written-money.ts';
import type { PayeeFields, PaymentOption } from '#libs/rules/paying/payment-options.ts';
import { waysToPay } from '#libs/rules/paying/ways-to-pay.ts';
import { updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { whenGone } from '../printing/caller-gone.ts';
import {
  knownKind,
  type PreviewBody,
  previewBody,
  requirePlaceholders,
  type TemplateBody,
  templateBody,
  templateKind,
} from './template-input.ts';
import { previewResponse, templateResponse } from './template-response.ts';

const path = '/api/v1/mail-templates/{kind}';
const missing = 'Mail template not found';
const parameters = { kind: templateKind };

export const mailTemplateRoutes: readonly Route[] = [
  singleRead({
    path,
    operation: 'getMailTemplate',
    scope: 'messages:read',
    parameters,
    missing,
    docs: {
      title: 'Get a mail template',
      summary: 'Get the words of a kind of mail in every language',
      response: templateResponse,
    },
    read: readTemplate,
  }),
  route({
    method: 'put',
    path,
    operation: 'setMailTemplate',
    scope: 'messages:write',
    rechecksKey: true,
    parameters,
    body: templateBody,
    missing,
    docs: {
      title: 'Set a mail template',
      summary: 'Replace your own words of a kind of mail',
      description: 'Messages that are planned already keep their words.',
      response: templateResponse,
    },
    handler: putTemplate,
  }),
  route({
    method: 'post',
    path: `${path}/preview`,
    operation: 'previewMailTemplate',
    scope: 'messages:read',
    parameters,
    body: previewBody,
    missing,
    storesNothing: true,
    docs: {
      title: 'Preview a mail',
      summary: 'See a mail with your words and invented values',
      response: previewResponse,
      status: 200,
    },
    handler: previewTemplate,
  }),
];

async function readTemplate({ caller, parameters: given, session }: Reading) {
  const kind = knownKind(given['kind']);
  return kind && templateView(kind, await findMailTemplates(caller.accountId, kind, session));
}

async function putTemplate({ body, parameters: given, commit, missing: notFound }: Context<TemplateBody>) {
  const kind = knownKind(given['kind']);
  if (!kind) throw notFound();
  const texts = body.texts.flatMap(({ subject, body: text }, index) => [
    [`texts.${index}.subject`, subject] as const,
    [`texts.${index}.body`, text] as const,
  ]);
  requirePlaceholders(kind, new Map(texts));
  return commit(async ({ session, accountId }) => {
    await removeBatch(MailTemplate, accountId, await findMailTemplates(accountId, kind, session), session);
    const records = body.texts.map((text): MailTemplateRecord => ({ ...newRecord(accountId), kind, ...text }));
    for (const record of records) await insertOwn(MailTemplate, record, session);
    return updated(templateView(kind, records));
  });
}

async function previewTemplate(context: Context<PreviewBody>) {
  const { caller, body, parameters: given, parts, response, missing: notFound } = context;
  const kind = knownKind(given['kind']);
  if (!kind) throw notFound();
  requirePlaceholders(kind, new Map(Object.entries({ subject: body.subject, body: body.body })));
  const account = await readAccount(caller.accountId);
  const locale = body.language && body.language !== mailLanguage(account.locale) ? body.language : account.locale;
  const language = mailLanguage(locale);
  const own = (await findMailTemplates(caller.accountId, kind)).find((one) => one.language === language);
  const { subject, body: text } = own ?? standardMailText(kind, language);
  const today = dayIn(account.time_zone);
  const words = await mailWords(
    {
      subject: body.subject || subject,
      body: body.body || text,
      values: inventedValues(account, { kind, today, locale }),
      account,
      locale,
      ways: inventedWays(account, kind, locale),
    },
    { markdown: parts.markdown, signal: whenGone(response) },
  );
  return updated(words);
}

function templateView(kind: MessageKind, own: readonly MailTemplateRecord[]) {
  return {
    kind,
    placeholders: placeholdersOf(kind),
    texts: MAIL_LANGUAGES.map((language) => {
      const text = own.find((one) => one.language === language);
      const { subject, body } = text ?? standardMailText(kind, language);
      return { language, subject, body, standard: text === undefined };
    }),
  };
}

const NUMBERS: Partial<Record<MessageKind, string>> = {
  quote: 'QUO-0017',
  receipt: 'PAY-0007',
  credit_note: 'CRN-0003',
};

/** Mails about documents that have no page for the client. */
const WITHOUT_LINK: readonly MessageKind[] = ['credit_note', 'answer'];

/** An invented sum, in the smallest unit of the currency. */
const INVENTED_MINOR = 135_660;
const INVENTED_INVOICE = 'INV-0042';

const currencyOf = ({ currency }: Pick<AccountRecord, 'currency'>) => currency ?? CURRENCY_STANDARD;

/** Returns the account's own ways to pay, for an invoice that does not exist. */
function inventedWays(account: AccountRecord, kind: MessageKind, locale: string) {
  if (kind !== 'invoice' && !isReminder(kind)) return undefined;
  const payee = { ...account, payment_options: account.payment_options as PaymentOption[] | undefined };
  const due = { amount: INVENTED_MINOR, currency: currencyOf(account), number: INVENTED_INVOICE };
  return {
    ways: waysToPay(payee as PayeeFields, due),
    number: INVENTED_INVOICE,
    amountDue: writtenMoney(INVENTED_MINOR, due.currency, locale),
  };
}

/** Values of a document that does not exist. */
function inventedValues(
  account: AccountRecord,
  { kind, today, locale }: { kind: MessageKind; today: string; locale: string },
): MailValues {
  const money = writtenMoney(INVENTED_MINOR, currencyOf(account), locale);
  const later = writtenDay(addDays(today, 30), locale);
  return {
    number: NUMBERS[kind] ?? INVENTED_INVOICE,
    date: writtenDay(today, locale),
    total: money,
    amount_due: money,
    due_date: later,
    valid_until: later,
    client_name: 'Ada Lovelace',
    sender: account.company || account.name,
    invoice_number: INVENTED_INVOICE,
    from: writtenDay(addDays(today, -30), locale),
    to: writtenDay(today, locale),
    balance: money,
    ...(WITHOUT_LINK.includes(kind) ? {} : { link: 'https://example.com/p/…' }),
    question: 'Is the delivery part of the price?',
    answer: 'Yes, it is.',
  };
}
