// Writing off what is due of an invoice, and taking that back, over HTTP.
import Joi from 'joi';
import { takeBackWriteOff, writeOff } from '#libs/billing/payments/write-off.ts';
import { appError } from '#libs/errors.ts';
import { uuid } from '#libs/input/kinds.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import type { Id } from '#libs/models/tenant.ts';
import { invoiceResponse } from '#libs/responses/invoice.ts';
import { movedAmount, reasonInput } from '../fields/movement-input.ts';
import { deleted, updated } from '../http/response.ts';
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

interface TakenBack {
  write_off_id?: Id;
}

const takenBack = Joi.object<TakenBack>({
  write_off_id: uuid().description('One of the movements of the kind `write_off`; all that stand unless given'),
});

export const writeOffRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/invoices/{id}/write-off',
    operation: 'writeOffInvoice',
    scope: 'invoices:write',
    body: writeOffInput,
    missing: 'Invoice not found or access denied',
    docs: {
      title: 'Write off an invoice',
      summary: 'Give up what is due of an invoice, or a part of it',
      status: 200,
      response: invoiceResponse,
      conflict: appError('write_off_exceeds_due', { amount: '50.00', number: 'INV-0042', due: '35.00' }),
    },
    handler: writeOffInvoice,
  }),
  route({
    method: 'delete',
    path: '/api/v1/invoices/{id}/write-off',
    operation: 'takeBackWriteOff',
    scope: 'invoices:write',
    query: takenBack,
    missing: 'Invoice not found or access denied',
    docs: {
      title: 'Take back a write-off',
      summary: 'Take back what was written off of an invoice: it is due again and can be paid',
      message: 'Write-off taken back',
      conflict: appError('nothing_written_off', { number: 'INV-0042' }),
    },
    handler: deleteWriteOff,
  }),
];

async function writeOffInvoice({ caller, body, commit, requireRecord }: Context<WriteOffInput>) {
  return commit(async (unit) => {
    const invoice = await requireRecord(Invoice, unit.session);
    const after = await writeOff(unit, invoice, body);
    return updated(await viewOf(after, caller, { session: unit.session }));
  });
}

async function deleteWriteOff({ query, commit, requireRecord }: Context<unknown, TakenBack>) {
  return commit(async (unit) => {
    const invoice = await requireRecord(Invoice, unit.session);
    await takeBackWriteOff(unit, invoice, query.write_off_id);
    return deleted('Write-off taken back');
  });
}
