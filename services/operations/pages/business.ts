// The page of the business of a day: invoices and payments by currency, and documents, over all accounts.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { VNode } from 'preact';
import { count, counted, countUpTo } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { note, stat, table } from '#libs/pages/parts.ts';
import { paramsOf, textOf } from '#libs/pages/query.ts';
import { decimalsOf, fromMinor } from '#libs/rules/money/money.ts';
import type { Visit } from '../session/visit.ts';
import { BUSINESS_COUNTED_MAX, type DayOfMoney, type MoneyRow, readBusiness } from '../store/business-figures.ts';
import type { Page } from '../views/layout.ts';

const SECTION = '/business';
const DAY_MS = 24 * 3_600_000;
const DAY_FORM = /^\d{4}-\d{2}-\d{2}$/;
/** The statuses of invoices that are no business. */
const NOT_ISSUED = new Set(['Draft', 'Cancelled']);

export async function businessPage({ request }: Visit): Promise<Page> {
  const today = dayText(Date.now());
  const day = textOf(paramsOf(request), 'day') ?? today;
  if (!DAY_FORM.test(day) || Number.isNaN(Date.parse(day)) || dayText(Date.parse(day)) !== day)
    throw new PageError(400, 'Day must be a day such as 2026-01-31.');
  const business = await readBusiness(day);
  const issued = business.invoices.rows.filter(({ status }) => !NOT_ISSUED.has(status));
  const received = business.payments.rows.filter(({ status }) => status === 'Received');
  const done = business.documents.filter(({ status }) => status === 'done');
  const body = html`<div>
    <form class="filters" method="get" action=${SECTION}>
      <label>Day<input type="date" name="day" value=${day} max=${dayText(Date.now() + DAY_MS)} /></label>
      <div class="buttons"><button class="main">Show</button> <a href=${SECTION}>Today</a></div>
    </form>
    <div class="card">
      <dl class="stats wide">
        ${stat('Invoices issued', number(issued, business.invoices), { detail: counted(counts(business.invoices.rows, 'Draft'), 'draft') })}
        ${stat('Payments', number(received, business.payments), { detail: counted(counts(business.payments.rows, 'Voided'), 'voided', 'voided') })}
        ${stat(
          'Documents printed',
          countUpTo(
            BUSINESS_COUNTED_MAX,
            sumBy(done, ({ count }) => count),
          ),
        )}
      </dl>
      ${business.invoices.isCut || business.payments.isCut ? note('warn', `More than ${count(BUSINESS_COUNTED_MAX)} invoices or payments have this date. The sums below are of the first ones.`) : null}
      <p class="quiet">Invoices and payments by their date, which is that of each account's own calendar; documents by the day in UTC. Test accounts count, too.</p>
    </div>
    ${sums('Invoices issued', 'Net', issued, 'No invoice has this date.')}
    ${sums('Payments', 'Received', received, 'No payment has this date.')}
  </div>`;
  return { title: day === today ? 'Business of today' : `Business of ${day}`, section: SECTION, body };
}

const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const counts = (rows: readonly MoneyRow[], wanted: string) =>
  sumBy(
    rows.filter(({ status }) => status === wanted),
    (row) => row.count,
  );

function number(rows: readonly MoneyRow[], { isCut }: DayOfMoney): string {
  const counted = sumBy(rows, (row) => row.count);
  return isCut ? `${count(counted)} or more` : count(counted);
}

interface CurrencyRow {
  currency: string;
  count: number;
  sum: number;
}

function sums(name: string, sumName: string, rows: readonly MoneyRow[], empty: string): VNode {
  const byCurrency = [...Map.groupBy(rows, ({ currency }) => currency)]
    .map(
      ([currency, own]): CurrencyRow => ({
        currency,
        count: sumBy(own, (row) => row.count),
        sum: sumBy(own, ({ sum }) => sum),
      }),
    )
    .toSorted((one, other) => other.count - one.count);
  const columns = [
    { name: 'Currency', cell: ({ currency }: CurrencyRow) => currency },
    { name: 'Number', isNumber: true, cell: (row: CurrencyRow) => count(row.count) },
    { name: sumName, isNumber: true, cell: ({ sum, currency }: CurrencyRow) => money(sum, currency) },
  ];
  return html`<div>
    <h2>${name}</h2>
    ${table(`${name} by currency`, columns, byCurrency, empty)}
  </div>`;
}

/** Writes an amount with the decimals of its currency: `1,234.50`. */
function money(minor: number, currency: string): string {
  const digits = decimalsOf(currency);
  return new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    fromMinor(minor, currency),
  );
}
