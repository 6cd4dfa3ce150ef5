// The mail service of the installation. It writes this record when it starts, so that the gateway knows whether mail can
// be sent, and from which address, without the credentials of the mail server.
import { type InferSchemaType, model, Schema } from 'mongoose';
import type { Session } from '../../mongo/connection.ts';
import { driverOf } from '../records.ts';

/** There is one record. */
const ONLY = 'mail';

const mailServiceSchema = new Schema(
  {
    _id: { type: String, required: true },
    /** The address that mail is sent from. */
    from: { type: String, required: true },
    /** The domain of return paths and of `Message-ID`. */
    domain: { type: String, required: true },
    /** The time at which a mail service last started. */
    started_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'mail_services' },
);

export const MailService = model('MailService', mailServiceSchema);

export type MailServiceRecord = InferSchemaType<typeof mailServiceSchema>;

/** Says that mail can be sent. */
export async function registerMailService({ from, domain }: { from: string; domain: string }, now: Date) {
  await MailService.updateOne({ _id: ONLY }, { $set: { from, domain, started_at: now } }, { upsert: true });
}

/** Says that no mail can be sent. */
export async function unregisterMailService(): Promise<void> {
  await MailService.deleteOne({ _id: ONLY });
}

/** Returns the registered mail service, or undefined when mail is not set up. */
export async function findMailService(session?: Session): Promise<MailServiceRecord | undefined> {
  const found = await driverOf(MailService as never).findOne({ _id: ONLY } as never, session ? { session } : {});
  return (found as unknown as MailServiceRecord | null) ?? undefined;
}
