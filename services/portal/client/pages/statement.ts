// The statement of account of a client, for a client's link that shows it.
import type { VNode } from 'preact';
import { clientStatements } from '#libs/billing/payments/client-statement.ts';
import type { CurrencyStatement, StatementPeriod } from '#libs/billing/payments/statement.ts';
import { addDays } from '#libs/day.ts';
import { type StatementWords, statementWords } from '#libs/documents/statement-words.ts';
import { AppError } from '#libs/errors.ts';
import { html } from '#libs/pages/html.ts';
import type { Page } from '../layout.ts';
import type { PageLocale } from '../locale.ts';
import { noSuchLink, type Visit } from '../visit.ts';
import { totalsClass } from './long-amounts.ts';

/** The latest movements that are shown, in all currencies. */
const ROWS_MAX = 100;
/** Each currency shows so many of them at least. */
const ROWS_MIN = 10;
/** The most movements of a client that are added up for a page. */
const MOVEMENTS_MAX = 5_000;

type Period = keyof StatementWords['periods'];

const PERIODS: Readonly<Record<Period, (today: string) => StatementPeriod>> = {
  year: (today) => ({ from: addDays(today, -365), to: today }),
  this_year: (today) => ({ from: `${today.slice(0, 4)}-01-01`, to: today }),
  last_year(today) {
    const year = String(Number(today.slice(0, 4)) - 1).padStart(4, '0');
    return { from: `${year}-01-01`, to: `${year}-12-31` };
  },
};

/** Shows the statement. @throws PageError 404 when the link shows none. */
export async function statementPage(visit: Visit): Promise<Page> {
  const { link, accountId, account, subject, locale, home, today, request } = visit;
  if (!link.show_statement || subject.type !== 'client') throw noSuchLink();
  const asked = String(request.query['period']);
  const chosen: Period = Object.hasOwn(PERIODS, asked) ? (asked as Period) : 'year';
  const period = PERIODS[chosen](today);
  const words = statementWords(locale.language);
  const statements = await read(() =>
    clientStatements(accountId, link.client_id, { period, timeZone: account.time_zone, max: MOVEMENTS_MAX }),
  );
  const { name, company_name } = subject.record;
  const body = html`<div>
    <p class="screen"><a href=${home}>${locale.words.back}</a></p>
    <section class="card">
      <h1>${words.title}</h1>
      <p dir="auto">${company_name || name}</p>
      <p><bdi>${locale.day(period.from)}</bdi> – <bdi>${locale.day(period.to)}</bdi></p>
      <nav class="actions" aria-label=${words.title}>
        ${Object.entries(words.periods).map(
          ([one, label]) =>
            html`<a class=${one === chosen ? 'button main' : 'button'} aria-current=${one === chosen ? 'true' : null} href=${`${home}/statement?period=${one}`}>${label}</a>`,
        )}
      </nav>
    </section>
    ${statements ? cardsOf(statements, { period, locale, words }) : html`<p class="note warn">${words.tooLong}</p>`}
  </div>`;
  return { title: words.title, body };
}

/** Returns undefined for a client with more movements than a page adds up. */
async function read(statements: () => Promise<CurrencyStatement[]>): Promise<CurrencyStatement[] | undefined> {
  try {
    return await statements();
  } catch (error) {
    if (error instanceof AppError && error.status === 422) return undefined;
    throw error;
  }
}

interface Shown {
  period: StatementPeriod;
  locale: PageLocale;
  words: StatementWords;
}

function cardsOf(statements: readonly CurrencyStatement[], shown: Shown): VNode | VNode[] {
  if (statements.length === 0) return html`<p class="note">${shown.words.nothing}</p>`;
  const max = Math.max(ROWS_MIN, Math.floor(ROWS_MAX / statements.length));
  return statements.map((statement) => cardOf(statement, max, shown));
}

function cardOf(statement: CurrencyStatement, max: number, { period, locale, words }: Shown): VNode {
  const { currency, opening, closing, due, ageing, credit, rows } = statement;
  const latest = rows.slice(-max);
  const hasMore = latest.length < rows.length;
  // The rows that are shown begin with the balance before them, so that they add up.
  const first = latest[0];
  const before =
    hasMore && first
      ? { day: first.date, balance: first.balance - first.amount }
      : { day: period.from, balance: opening };
  const money = (amount: number) => locale.minor(amount, currency);
  const ages = Object.entries(ageing).filter(([, amount]) => amount > 0) as [keyof typeof ageing, number][];
  return html`<section class="card">
    <h2><bdi>${currency}</bdi></h2>
    ${hasMore ? html`<p class="quiet">${locale.words.more}</p>` : null}
    <div class="table">
      <table class="lines">
        <caption>${`${words.title} ${currency}`}</caption>
        <thead>
          <tr>
            <th scope="col"></th>
            <th scope="col" class="number">${words.debit}</th>
            <th scope="col" class="number">${words.credit}</th>
            <th scope="col" class="number">${words.balance}</th>
          </tr>
        </thead>
        <tbody>
          ${balanceRow(words.opening, { ...before, locale, words, money })}
          ${latest.map(
            ({ date, kind, document, text, amount, balance }) => html`<tr>
              <td class="text">
                <span class="line quiet"><bdi>${locale.day(date)}</bdi></span>
                <span class="line">${words.kinds[kind]} <bdi>${document.number}</bdi></span>
                ${text ? html`<span class="line quiet" dir="auto">${text}</span>` : null}
              </td>
              ${amountCell(words.debit, amount > 0 ? money(amount) : '')} ${amountCell(words.credit, amount < 0 ? money(-amount) : '')}
              ${amountCell(words.balance, money(balance))}
            </tr>`,
          )}
          ${balanceRow(words.closing, { day: period.to, balance: closing, locale, words, money })}
        </tbody>
      </table>
    </div>
    ${closing < 0 ? html`<p class="quiet">${words.inFavour}</p>` : null}
    ${
      due > 0
        ? html`<dl class=${totalsClass([...ages.map(([, amount]) => amount), -credit, closing].map(money))}>
            ${ages.map(([age, amount]) => html`<dt>${words.ageing[age]}</dt><dd>${money(amount)}</dd>`)}
            ${credit > 0 ? html`<dt>${words.unused}</dt><dd>${money(-credit)}</dd>` : null}
            <dt class="last">${closing < 0 ? words.balance : locale.words.due}</dt><dd class="last">${money(closing)}</dd>
          </dl>`
        : null
    }
  </section>`;
}

function balanceRow(
  label: string,
  {
    day,
    balance,
    locale,
    words,
    money,
  }: Pick<Shown, 'locale' | 'words'> & {
    day: string;
    balance: number;
    money: (amount: number) => string;
  },
): VNode {
  return html`<tr class="balance">
    <td class="text"><span class="line quiet"><bdi>${locale.day(day)}</bdi></span> <span class="line">${label}</span></td>
    <td class="number"></td><td class="number"></td>
    ${amountCell(words.balance, money(balance))}
  </tr>`;
}

function amountCell(name: string, text: string): VNode {
  return html`<td class="number" data-name=${name}>${text}</td>`;
}
