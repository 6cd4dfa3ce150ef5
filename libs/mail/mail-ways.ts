// The ways to pay under a mail that asks for money, as plain text and as HTML.
import { escape as escaped } from 'es-toolkit/string/escape';
import { labelsOf } from '../documents/labels.ts';
import { referenceOf, type WayToPay } from '../rules/paying/ways-to-pay.ts';
import { mailLanguage } from './standard-texts.ts';

export interface MailedWays {
  ways: readonly WayToPay[];
  /** The number of the invoice, which is the reference unless a way has its own. */
  number: string;
  /** What is due when the mail is made, as it is written. */
  amountDue: string;
}

interface Way {
  lines: readonly string[];
  link: { label: string; url: string } | undefined;
}

interface Section {
  heading: string;
  due: { label: string; amount: string };
  ways: readonly Way[];
}

/** Returns the section as plain text. */
export function waysText(given: MailedWays, locale: string): string {
  const { heading, due, ways } = sectionOf(given, locale);
  const parts = ways.map(({ lines, link }) => [...lines, ...(link ? [`${link.label}: ${link.url}`] : [])].join('\n'));
  return [`${heading}\n${due.label}: ${due.amount}`, ...parts].join('\n\n');
}

/** Returns the section as HTML. Each value has a direction of its own, as an IBAN in an Arabic mail. */
export function waysHtml(given: MailedWays, locale: string): string {
  const { heading, due, ways } = sectionOf(given, locale);
  const isolated = (text: string) => `<bdi>${escaped(text)}</bdi>`;
  const parts = ways.map(({ lines, link }) => {
    const shown = lines.map(isolated);
    if (link) shown.push(`<a href="${escaped(link.url)}">${isolated(link.label)}</a>`);
    return `<p>${shown.join('<br>\n')}</p>\n`;
  });
  const sum = `<p>${escaped(due.label)}: <strong>${isolated(due.amount)}</strong></p>\n`;
  return `<div class="pay">\n<h3>${escaped(heading)}</h3>\n${sum}${parts.join('')}</div>\n`;
}

function sectionOf({ ways, number, amountDue }: MailedWays, locale: string): Section {
  const { bankDetails, amountDue: due, receipt } = labelsOf('invoice', mailLanguage(locale));
  return {
    heading: bankDetails,
    due: { label: due, amount: amountDue },
    ways: ways.map((way) => ({
      lines: way.text ? [...way.text.split('\n'), `${receipt.reference}: ${referenceOf(way, number)}`] : [],
      // Mail programs show other links, such as that of UPI, as text or warn of them.
      link: way.link?.url.startsWith('https://') ? way.link : undefined,
    })),
  };
}
