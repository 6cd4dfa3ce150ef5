// The ways to pay under a mail that asks for money, as plain text and as HTML.
import { escape as escaped } from 'es-toolkit/string/escape';
import { labelsOf } from '../documents/labels.ts';
import { referenceOf, type WayToPay } from '../rules/paying/ways-to-pay.ts';
import { mailLanguage } from './standard-texts.ts';

export interface MailedWays {
  ways: readonly WayToPay[];
  /** The number of the invoice, which is the reference unless a way has its own. */
  number: string;
  /** The due amount when the mail is made, as it is written. */
  amountDue: string;
}

interface Way {
  lines: readonly string[];
  /** `plain` has no blanks between groups: beside Arabic words, groups of digits would be shown in the other order. */
  reference: { label: string; value: string; plain: string } | undefined;
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
  const parts = ways.map(({ lines, reference, link }) => [
    ...lines,
    ...(reference ? [`${reference.label}: ${reference.plain}`] : []),
    ...(link ? [`${link.label}: ${link.url}`] : []),
  ]);
  return [`${heading}\n${due.label}: ${due.amount}`, ...parts.map((lines) => lines.join('\n'))].join('\n\n');
}

/** Returns the section as HTML. Each value has a direction of its own, as an IBAN in an Arabic mail. */
export function waysHtml(given: MailedWays, locale: string): string {
  const { heading, due, ways } = sectionOf(given, locale);
  const isolated = (text: string) => `<bdi>${escaped(text)}</bdi>`;
  const parts = ways.map(({ lines, reference, link }) => {
    const shown = lines.map(isolated);
    if (reference) shown.push(`${escaped(reference.label)}: ${isolated(reference.value)}`);
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
      lines: way.text ? way.text.split('\n') : [],
      reference: way.text
        ? {
            label: receipt.reference,
            value: referenceOf(way, number),
            plain: way.swissBill?.reference ?? number,
          }
        : undefined,
      // Mail programs show other links, such as that of UPI, as text or warn of them.
      link: way.link?.url.startsWith('https://') ? way.link : undefined,
    })),
  };
}
