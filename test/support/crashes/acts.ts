// The acts that portal and scheduler are killed in: every form of the client's page, and every round over records.
import { addDays, dayIn } from '#libs/day.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { PaymentPromise } from '#libs/models/answers/promise.ts';
import type { RoundName } from '#libs/models/operations/round-try.ts';
import { DocumentLink } from '#libs/models/portal/document-link.ts';
import { announceAllFollowUps } from '../../../services/scheduler/announce-all-follow-ups.ts';
import { emitExpirations } from '../../../services/scheduler/emit-expirations.ts';
import { planReminders } from '../../../services/scheduler/plan-reminders.ts';
import { runRecurringInvoices } from '../../../services/scheduler/run-recurring-invoices.ts';
import { promise } from '../answers.ts';
import { setUpMail } from '../messages.ts';
import type { TestAccount } from '../workspace.ts';
import { type Caller, madeBy } from './billing-world.ts';

/** A new account that has nothing yet. */
export interface ActWorld {
  account: TestAccount;
  call: Caller;
}

export interface FormAct {
  /** The document whose page has the form. */
  subject: 'invoice' | 'quote';
  /** The fields that a person fills in. */
  fields: Record<string, string>;
  /** Changes the link before the form is sent. */
  prepare?: (linkId: string, world: ActWorld) => Promise<unknown>;
}

const NEXT_WEEK = () => addDays(dayIn('UTC'), 7);
const LONG_AGO = '2025-01-01';

/** By the path of the form below that of the link. */
export const FORM_ACTS: Readonly<Record<string, FormAct>> = {
  '/accept': { subject: 'quote', fields: { name: 'Ada Lovelace', agree: 'yes' } },
  '/decline': { subject: 'quote', fields: { reason: 'Too late', confirm: 'yes' } },
  '/promise': { subject: 'invoice', fields: { day: NEXT_WEEK() } },
  '/ask': { subject: 'invoice', fields: { text: 'Which hours are these?' } },
  '/opened': { subject: 'invoice', fields: {} },
  '/renew': {
    subject: 'invoice',
    fields: {},
    async prepare(linkId, { account }) {
      await setUpMail();
      await DocumentLink.updateOne({ _id: linkId, account_id: account.id }, { expires_at: new Date(LONG_AGO) });
    },
  },
};

/** Names of tries that are counted by jobs of other services. */
type JobName =
  | 'fan-outs of events'
  | 'attempts of deliveries'
  | 'attempts of mails'
  | 'reconciled endpoints'
  | 'documents of batches';

export interface RoundAct {
  /** The round of ROUNDS that does it. */
  round: keyof typeof ROUNDS;
  /** Makes a record that the round has to work on. */
  prepare: (world: ActWorld) => Promise<unknown>;
}

export const ROUNDS = {
  expirations: () => emitExpirations(),
  recurring: () => runRecurringInvoices(),
  reminders: () => planReminders(),
  'follow-ups': () => announceAllFollowUps(),
} as const;

export const ROUND_ACTS: Readonly<Record<Exclude<RoundName, JobName>, RoundAct>> = {
  'overdue invoices': { round: 'expirations', prepare: overdueInvoice },
  'expired quotes': {
    round: 'expirations',
    prepare: async ({ call }) => (await madeBy(call)).quote({ status: 'Sent', expires_at: LONG_AGO }),
  },
  'broken promises': {
    round: 'expirations',
    async prepare({ account, call }) {
      const { id } = await (await madeBy(call)).invoice();
      await promise(account.id, id, NEXT_WEEK());
      const passed = { promised_for: LONG_AGO, expires_on: LONG_AGO };
      await PaymentPromise.updateOne({ account_id: account.id, invoice_id: id }, passed);
    },
  },
  'recurring invoices': {
    round: 'recurring',
    async prepare({ call }) {
      const { client_id } = await madeBy(call);
      const line_items = [{ description: 'Support', quantity: 1, rate: 450 }];
      const schedule = { unit: 'month', start_on: dayIn('UTC') };
      await call('POST', '/recurring-invoices', { client_id, line_items, schedule });
    },
  },
  reminders: {
    round: 'reminders',
    async prepare(world) {
      await setUpMail();
      // At any time of the day.
      const steps = { remind_at: '00:00', reminders: [{ days: 7, template: 'reminder_1' }] };
      await Account.updateOne({ _id: world.account.id }, steps);
      await overdueInvoice(world);
    },
  },
  'follow-ups': {
    round: 'follow-ups',
    async prepare(world) {
      await overdueInvoice(world);
      await Account.updateOne({ _id: world.account.id }, { follow_ups_due_at: new Date(LONG_AGO) });
    },
  },
};

async function overdueInvoice({ call }: ActWorld): Promise<void> {
  await (await madeBy(call)).invoice({ due_date: LONG_AGO });
}
