// The page of an invoice or a quote: its state, what is due, what can be done, and everything that the paper says.
import type { VNode } from 'preact';
import { invoiceWays } from '#libs/documents/invoice-ways.ts';
import { STANDARD_LOOKS } from '#libs/documents/looks.ts';
import { invoiceDocument, quoteDocument } from '#libs/documents/stored-document.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { html } from '#libs/pages/html.ts';
import { badge } from '#libs/pages/parts.ts';
import { type Movement, movementsOf } from '../../store/movements.ts';
import type { FormAgain } from '../client-form.ts';
import { type DocumentState, stateOf } from '../document-state.ts';
import { acceptForm } from '../forms/accept.ts';
import { CLIENT_FORMS } from '../forms.ts';
import type { Page } from '../layout.ts';
import type { PageLocale } from '../locale.ts';
import { totalNotes, totalRows } from '../totals.ts';
import { type DocumentVisit, mayDo } from '../visit.ts';
import { waysCard } from '../ways.ts';
import { linesOfText } from './lines-of-text.ts';
import { sumClass, totalsClass } from './long-amounts.ts';
import { acceptedOrPromised, questionsCard } from './said.ts';

/** @param again the form that was sent and not done. */
export async function documentPage(visit: DocumentVisit, again?: { path: string } & FormAgain): Promise<Page> {
  const { subject, locale, account, base, home, link, today } = visit;
  const details = { parties: subject.parties, timeZone: account.time_zone, isTest: account.mode === 'test' };
  const document =
    subject.type === 'invoice'
      ? invoiceDocument(subject.record, details, STANDARD_LOOKS)
      : quoteDocument(subject.record, details, STANDARD_LOOKS);
  const state = stateOf(subject, today);
  const { words } = locale;
  const labels = locale.labels[subject.type];
  const part = document.part && document.part !== 'full' ? labels.parts[document.part] : labels.heading;
  const title = `${part} ${document.number}`;
  const hasTime = link.show_time && subject.type === 'invoice' && subject.record.time !== undefined;
  const [answer, movements, questions] = await Promise.all([
    acceptedOrPromised(visit),
    subject.type === 'invoice' ? movementsOf(subject.record) : undefined,
    questionsCard(visit),
  ]);
  const body = html`<div>
    ${base === home ? null : html`<p class="screen"><a href=${home}>${words.back}</a></p>`}
    <section class="card">
      <div class="title">
        <h1 dir="auto">${title}</h1>
        ${badge(words.states[state.name], state.tone)}
      </div>
      ${sumOf(state, locale)}
      <p class="quiet">${state.until ? `${labels.until}: ${locale.day(state.until)}` : null}</p>
      <p class="actions">
        <a class="button" href=${`${base}/pdf`}>${words.download}</a>
        ${hasTime ? html`<a class="button" href=${`${base}/time`}>${labels.time.heading}</a>` : null}
      </p>
    </section>
    ${answer}
    ${subject.type === 'invoice' && state.isDue && mayDo(visit, 'pay') ? waysCard(invoiceWays(subject.record, subject.parties), document.number, locale) : null}
    <section class="card">
      <h2 dir="auto">${document.subject ?? labels.heading}</h2>
      ${linesOf(document, locale)} ${totalsOf(document, locale)}
    </section>
    ${movements ? movementsCard(movements, locale) : null}
    ${textsOf(document, locale)} ${questions} ${formsOf(visit, again)} ${partiesOf(document, locale)} ${footOf(document, locale)}
  </div>`;
  const isDrawnOn = mayDo(visit, acceptForm.act) && acceptForm.isOffered(visit);
  return { title, body, isCounted: true, isDrawnOn };
}

function sumOf({ sum, isDue }: DocumentState, { words, labels, minor }: PageLocale): VNode {
  return html`<div><p class="quiet">${isDue ? words.due : labels.invoice.total}</p><p class=${sumClass(minor(sum))}>${minor(sum)}</p></div>`;
}

function linesOf(document: PrintableDocument, locale: PageLocale): VNode | null {
  const { lineItems } = document;
  if (lineItems.length === 0) return null;
  const labels = locale.labels.invoice;
  const has = (name: 'qty' | 'rate' | 'discount' | 'taxRate') =>
    lineItems.some((line) => line[name] !== undefined && !(name === 'discount' && Number(line.discount) === 0));
  const columns = { qty: has('qty'), rate: has('rate'), discount: has('discount'), taxRate: has('taxRate') };
  const cell = (name: string, text: string) => html`<td class="number" data-name=${name}>${text}</td>`;
  const head = (name: string) => html`<th scope="col" class="number">${name}</th>`;
  return html`<div class="table">
    <table class="lines">
      <caption>${labels.heading}</caption>
      <thead>
        <tr>
          <th scope="col">${labels.description}</th>
          ${columns.qty ? head(labels.qty) : null} ${columns.rate ? head(labels.rate) : null}
          ${columns.discount ? head(labels.discount) : null} ${columns.taxRate ? head(labels.taxes.column) : null} ${head(labels.amount)}
        </tr>
      </thead>
      <tbody>
        ${lineItems.map(
          ({ description, qty, unit, rate, discount, taxRate, amount }) => html`<tr>
            <td class="text"><span class="line" dir="auto">${description ?? ''}</span></td>
            ${columns.qty ? cell(labels.qty, qty === undefined ? '' : locale.quantity(qty, unit)) : null}
            ${columns.rate ? cell(labels.rate, rate === undefined ? '' : locale.money(Number(rate))) : null}
            ${columns.discount ? cell(labels.discount, Number(discount ?? 0) === 0 ? '' : locale.percent(discount ?? 0)) : null}
            ${columns.taxRate ? cell(labels.taxes.column, taxRate === undefined ? '' : locale.percent(taxRate)) : null}
            ${cell(labels.amount, amount === undefined ? '' : locale.money(amount))}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function totalsOf(document: PrintableDocument, locale: PageLocale): VNode {
  const notes = totalNotes(document, locale);
  const rows = totalRows(document, locale);
  return html`<div>
    <dl class=${totalsClass(rows.map(({ amount }) => amount))}>
      ${rows.map(
        ({ label, amount, isLast }) =>
          html`<dt class=${isLast ? 'last' : null}>${label}</dt><dd class=${isLast ? 'last' : null}>${amount}</dd>`,
      )}
    </dl>
    ${notes.map((text) => html`<p class="quiet text" dir="auto">${text}</p>`)}
  </div>`;
}

function movementsCard({ movements, hasMore }: { movements: Movement[]; hasMore: boolean }, locale: PageLocale) {
  if (movements.length === 0) return null;
  const { words, labels, minor, day } = locale;
  const names = { payment: words.payment, credit: words.credit, written_off: labels.invoice.writtenOff };
  return html`<section class="card">
    <h2>${words.movements}</h2>
    <dl class=${totalsClass(movements.map(({ amount }) => minor(amount)))}>
      ${movements.map(({ kind, date, amount }) => html`<dt>${day(date)} · ${names[kind]}</dt><dd>${minor(amount)}</dd>`)}
    </dl>
    ${hasMore ? html`<p class="quiet">${words.more}</p>` : null}
  </section>`;
}

function textsOf({ notes, terms, isQuote }: PrintableDocument, { labels }: PageLocale): VNode[] {
  const words = isQuote ? labels.quote : labels.invoice;
  return [
    { label: words.notes, text: notes },
    { label: words.terms, text: terms },
  ].flatMap(({ label, text }) =>
    text ? html`<section class="card"><h2>${label}</h2><p class="text" dir="auto">${text}</p></section>` : [],
  );
}

/** Shows the forms. They come after the content and its terms, so that a reader knows what is agreed to. */
function formsOf(visit: DocumentVisit, again?: { path: string } & FormAgain): VNode[] {
  return Object.entries(CLIENT_FORMS)
    .filter(([, form]) => mayDo(visit, form.act) && form.isOffered(visit))
    .map(([path, form]) => form.show(visit, again?.path === path ? again : undefined));
}

function partiesOf(document: PrintableDocument, { labels: both, day }: PageLocale): VNode {
  const labels = document.isQuote ? both.quote : both.invoice;
  const { serviceDate, servicePeriod, buyerReference, poNumber, contractReference } = document;
  const lines = (texts: (string | undefined)[]) => [...new Set(texts.filter(Boolean))].join('\n');
  const client = [document.clientCompany, document.clientName, document.clientAddress, document.clientEmail];
  const issuer = [
    document.partnerCompany,
    document.partnerName,
    document.partnerAddress,
    document.partnerEmail,
    document.partnerPhone,
  ];
  const period = servicePeriod && [...new Set([servicePeriod.from, servicePeriod.to])].map(day).join(' – ');
  const facts: [label: string, value: string | undefined][] = [
    [labels.from, lines(issuer)],
    [labels.to, lines([...client, document.clientVatId && labels.vatId(document.clientVatId)])],
    [labels.date, day(document.date)],
    [labels.serviceDate, serviceDate && day(serviceDate)],
    [labels.servicePeriod, period],
    [labels.buyerReference, buyerReference],
    [labels.poNumber, poNumber],
    [labels.contract, contractReference],
  ];
  return html`<section class="card">
    <dl class="facts">
      ${facts.map(([label, value]) => (value ? html`<div><dt>${label}</dt><dd>${linesOfText(value)}</dd></div>` : null))}
    </dl>
  </section>`;
}

/** Returns the address of a mail to one recipient. Its last @ has to stay as it is (RFC 6068). */
function mailTo(address: string): string {
  const at = address.lastIndexOf('@');
  return `mailto:${encodeURIComponent(address.slice(0, at))}@${encodeURIComponent(address.slice(at + 1))}`;
}

function footOf(document: PrintableDocument, { labels: both, words }: PageLocale): VNode {
  const labels = both.invoice;
  const { partnerEmail, partnerVatId, partnerTaxNumber, partnerTaxId } = document;
  const legal = [
    document.partnerLegalName,
    document.partnerLegalId,
    partnerVatId && labels.vatId(partnerVatId),
    partnerTaxNumber && labels.taxNumber(partnerTaxNumber),
    partnerTaxId && labels.taxId(partnerTaxId),
    document.legalNote,
  ].filter(Boolean);
  return html`<footer>
    ${partnerEmail ? html`<p><a href=${mailTo(partnerEmail)}>${words.questions(`\u2068${partnerEmail}\u2069`)}</a></p>` : null}
    <p class="text" dir="auto">${legal.join(' · ')}</p>
  </footer>`;
}
