// The words of one mail: its subject, its text, and the same as HTML.
import { AppError, appError } from '../errors.ts';
import type { Markdown } from '../markdown/markdown.ts';
import type { AccountRecord } from '../models/accounts/account.ts';
import { LINK_LABELS } from './link-labels.ts';
import { type MailIssuer, mailHtml } from './mail-html.ts';
import { senderOf } from './mail-values.ts';
import { type MailedWays, waysHtml, waysText } from './mail-ways.ts';
import { filledLine, filledMarkdown, filledText, type MailValues } from './placeholders.ts';
import { mailLanguage } from './standard-texts.ts';

export interface MailWords {
  subject: string;
  /** Plain text, for readers without HTML. */
  text: string;
  /** A whole page. */
  html: string;
}

interface Writing {
  /** The templates. */
  subject: string;
  body: string;
  values: MailValues;
  account: Pick<AccountRecord, 'name' | 'company' | 'address' | 'brand_color' | 'mode'>;
  locale: string;
  /** Absent on a mail that asks for no money. */
  ways?: MailedWays | undefined;
}

/** Characters of a text with its values. A value may be long, and named often. */
const FILLED_LONGEST = 50_000;
/** The time for the layout of a text, which takes milliseconds. */
const LAYOUT_MS = 10_000;

/** Returns the words of a mail. @throws AppError 422 when the text is too long or too slow to lay out, 503 when the machine is too busy. */
export async function mailWords(
  { subject: subjectTemplate, body, values, account, locale, ways }: Writing,
  { markdown, signal }: { markdown: Pick<Markdown, 'toHtml'>; signal: AbortSignal },
): Promise<MailWords> {
  const subject = filledSubject(subjectTemplate, values, account);
  const filled = filledMarkdown(body, values);
  if (filled.length > FILLED_LONGEST) throw appError('mail_text_not_printable');
  try {
    const html = await markdown.toHtml(filled, { deadlineAt: Date.now() + LAYOUT_MS, signal });
    const url = body.includes('{link}') ? undefined : values.link;
    const link = url === undefined ? undefined : { url, label: LINK_LABELS[mailLanguage(locale)] };
    const shown = ways && ways.ways.length > 0 ? ways : undefined;
    const text = [
      filledText(withoutEmphasis(body), values),
      ...(link ? [`${link.label}: ${link.url}`] : []),
      ...(shown ? [waysText(shown, locale)] : []),
    ];
    const under = { link, ways: shown && waysHtml(shown, locale) };
    return {
      subject,
      text: text.join('\n\n'),
      html: mailHtml({ subject, body: html, ...under, issuer: issuerOf(account), locale }),
    };
  } catch (error) {
    if (error instanceof AppError && error.code === 'markdown_not_printable')
      throw appError('mail_text_not_printable', undefined, { cause: error });
    throw error;
  }
}

/** Returns the subject with its values. Mail of a test account says that it is a test. */
export function filledSubject(template: string, values: MailValues, { mode }: Pick<AccountRecord, 'mode'>): string {
  return `${mode === 'test' ? '[TEST] ' : ''}${filledLine(template, values)}`;
}

function issuerOf(account: Writing['account']): MailIssuer {
  return {
    name: senderOf(account),
    ...(account.address ? { address: account.address } : {}),
    ...(account.brand_color ? { color: account.brand_color } : {}),
    isTest: account.mode === 'test',
  };
}

/** Removes the marks of bold text, which plain text shows as they are. Those of lists and links can be read. */
function withoutEmphasis(markdown: string): string {
  return markdown.replaceAll(/(\*\*|__)(?=\S)(.+?)\1/g, '$2');
}
