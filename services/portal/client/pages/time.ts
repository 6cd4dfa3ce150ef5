// The hours behind each line of an invoice, for a link that shows them.
import type { VNode } from 'preact';
import { billedTime } from '#libs/billing/work/hours-of-invoice.ts';
import { printableTime } from '#libs/documents/printable-time.ts';
import type { PrintableTimeLine } from '#libs/jobs/printable-document.ts';
import { html } from '#libs/pages/html.ts';
import { isTimeLarge } from '../../store/time-size.ts';
import type { Page } from '../layout.ts';
import type { PageLocale } from '../locale.ts';
import { type DocumentVisit, noSuchLink } from '../visit.ts';

/** The entries that are shown. The PDF of the account has all of them. */
const ENTRIES_MAX = 1_000;

/** Shows the hours. @throws PageError 404 when the link shows no hours, or the document has none. */
export async function timePage({ subject, link, accountId, locale, base }: DocumentVisit): Promise<Page> {
  if (!link.show_time || subject.type !== 'invoice' || !subject.record.time) throw noSuchLink();
  const { record, parties } = subject;
  const isTextLeftOut = await isTimeLarge(record);
  const billed = await billedTime(record, { accountId, isTextLeftOut }, parties.issuer.locale);
  const lines = printableTime(billed, record.currency);
  const { words, labels } = locale;
  let left = ENTRIES_MAX;
  const shown = lines.map((line) => {
    const entries = line.entries.slice(0, Math.max(0, left));
    left -= line.entries.length;
    return { ...line, entries };
  });
  const body = html`<div>
    <p class="screen"><a href=${base}>${words.back}</a></p>
    <h1>${labels.invoice.time.heading}</h1>
    ${shown.map((line) => lineOf(line, locale))} ${left < 0 ? html`<p class="quiet">${words.more}</p>` : null}
  </div>`;
  return { title: labels.invoice.time.heading, body };
}

function lineOf(line: PrintableTimeLine, locale: PageLocale): VNode {
  const { labels, number, money, day } = locale;
  const { time, amount } = labels.invoice;
  const { description, place, hours, billed, rate, entries } = line;
  const facts = [
    [time.hours, number(hours)],
    [time.billed, number(billed)],
    ...(rate === undefined ? [] : [[time.rate, money(Number(rate))]]),
    ...(line.amount === undefined ? [] : [[amount, money(line.amount)]]),
  ];
  return html`<section class="card">
    <h2 dir="auto">${description}</h2>
    ${place ? html`<p class="quiet" dir="auto">${place}</p>` : null}
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <div class="table">
      <table class="lines">
        <caption>${description}</caption>
        <thead>
          <tr>
            <th scope="col">${time.work}</th>
            <th scope="col" class="number">${time.billed}</th>
            <th scope="col" class="number">${time.hours}</th>
          </tr>
        </thead>
        <tbody>
          ${entries.map(
            (entry) => html`<tr>
              <td class="text"><span class="line">${day(entry.date)}</span> <span class="line" dir="auto">${[entry.place, entry.description].filter(Boolean).join(' · ')}</span></td>
              <td class="number" data-name=${time.billed}>${entry.billed === undefined ? '' : number(entry.billed)}</td>
              <td class="number" data-name=${time.hours}>${number(entry.hours)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}
