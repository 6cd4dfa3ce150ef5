// The hours behind each line of an invoice, as the API returns them.
import Joi from 'joi';
import { billedTime } from '#libs/billing/work/hours-of-invoice.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import {
  calendarDay,
  currency,
  embeddedProject,
  embeddedTask,
  exampleProject,
  exampleRounding,
  id,
  invoiceSummary,
  number,
  orNull,
  roundingResponse,
  words,
} from '#libs/responses/response-fields.ts';
import { fromMinor, lineNet } from '#libs/rules/money/money.ts';
import { RATE_SOURCES } from '#libs/rules/time/hourly-rate.ts';
import { hoursQuantity } from '#libs/rules/time/time-rounding.ts';

const hoursOf = (seconds: number) => Number(hoursQuantity(seconds));

export async function invoiceTimeView(invoice: InvoiceRecord, accountId: Id, locale: string) {
  const { currency } = invoice;
  const { isEdited, lines } = await billedTime(invoice, { accountId }, locale);
  return {
    invoice: {
      id: String(invoice._id),
      invoice_number: invoice.number === 0 ? null : printedNumber('invoice', invoice),
    },
    currency,
    edited: isEdited,
    lines: lines.map((line) => ({
      line: line.at,
      description: line.description,
      hours: hoursOf(line.seconds),
      billed_hours: Number(line.qty),
      prepaid_hours: hoursOf(line.prepaid),
      rate: Number(line.rate),
      rounding: line.rounding,
      amount: fromMinor(lineNet(line, currency), currency),
      entries: line.entries.map((entry) => ({
        id: entry.id,
        date: entry.date,
        hours: hoursOf(entry.seconds),
        description: entry.description,
        member: entry.member,
        project: entry.project,
        task: entry.task,
        rate_from: entry.rateFrom === 'none' ? null : entry.rateFrom,
      })),
    })),
  };
}

export const invoiceTimeResponse = Joi.object({
  invoice: invoiceSummary().required(),
  currency: currency(),
  edited: Joi.boolean()
    .required()
    .description('More than texts and units of the line items was changed by hand since they were made from this time'),
  lines: Joi.array()
    .required()
    .items(
      Joi.object({
        line: orNull(Joi.number()).description('Its place among `line_items`, from 0; null once these were edited'),
        description: words(),
        hours: number().description('As they were tracked'),
        billed_hours: number().description('After rounding: the quantity of the line'),
        prepaid_hours: number().description('Drawn from hour packages; another line takes them off'),
        rate: number(),
        rounding: roundingResponse(),
        amount: number(),
        entries: Joi.array()
          .required()
          .items(
            Joi.object({
              id: id(),
              date: calendarDay(),
              hours: number(),
              description: orNull(Joi.string()),
              member: orNull(Joi.string()),
              project: embeddedProject(),
              task: embeddedTask(),
              rate_from: orNull(Joi.string().valid(...RATE_SOURCES)),
            }).meta({ schema: 'BilledTimeEntry' }),
          ),
      }).meta({ schema: 'BilledTimeLine' }),
    ),
})
  .id('InvoiceTime')
  .example({
    invoice: { id: exampleId.invoices, invoice_number: 'INV-0042' },
    currency: 'EUR',
    edited: false,
    lines: [
      {
        line: 0,
        description: 'Difference engine: Drawings',
        hours: 2.1667,
        billed_hours: 2.25,
        prepaid_hours: 0,
        rate: 95,
        rounding: exampleRounding,
        amount: 213.75,
        entries: [
          {
            id: exampleId['time-entries'],
            date: '2026-11-02',
            hours: 2.1667,
            description: 'Mill, first sheet',
            member: 'Ada Lovelace',
            project: exampleProject,
            task: { id: exampleId.tasks, name: 'Drawings' },
            rate_from: 'entry',
          },
        ],
      },
    ],
  });
