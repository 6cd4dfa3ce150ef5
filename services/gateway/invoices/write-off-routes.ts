// Writing off what is due of an invoice, over HTTP.
import Joi from 'joi';
import { writeOff } from '#libs/billing/write-off.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { invoiceResponse } from '../fields/invoice-response.ts';
import { movedAmount, reasonInput } from '../fields/movement-input.ts';
import { updated } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { viewOf } from './view.ts';

interface WriteOffInput {
  amount?: number;
  reason: string;
}

const writeOffInput = Joi.object<WriteOffInput, true>({
  amount: movedAmount().description('What is due unless given'),
  reason: reasonInput(),
}).example({ amount: 0.05, reason: 'Bank charges' });

export const writeOffRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/invoices/{id}/write-off',
    operation: 'writeOffInvoice',
    scope: 'invoices:write',
    body: writeOffInput,
    missing: 'Invoice not found or access denied',
    docs: {
      summary: 'Give up what is due of an invoice, or a part of it',
      status: 200,
      response: invoiceResponse,
      conflict: 'Cannot write off 50.00 of INV-0042: 35.00 is due',
    },
    handler: writeOffInvoice,
  }),
];

async function writeOffInvoice({ caller, body, commit, requireRecord }: Context<WriteOffInput>) {
  return commit(async (unit) => {
    const invoice = await requireRecord(Invoice, unit.session);
    const after = await writeOff(unit, invoice, body);
    return updated(await viewOf(after, caller, { session: unit.session }));
  });
}
