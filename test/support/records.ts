// Records a test needs before it can begin, made through the API, and the events they caused.
import { Event } from '#libs/models/webhooks/event.ts';
import type { Call, Reply, TestGateway } from './gateway.ts';

export const UNKNOWN_ID = '0192e0a0-0000-7000-8000-000000000000';

// biome-ignore lint/suspicious/noExplicitAny: tests look into records of every shape.
export type AnyRecord = any;

/** Creates with `call`'s key and returns the record; throws when it is refused. */
export async function create(gateway: TestGateway, path: string, body: object, call: Call = {}): Promise<AnyRecord> {
  const reply = await gateway.post(path, body, call);
  if (reply.status !== 201 && reply.status !== 202)
    throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body.data;
}

export function createClient(gateway: TestGateway, fields: object = {}, call: Call = {}): Promise<AnyRecord> {
  return create(gateway, '/api/v1/clients', { name: 'Ada Lovelace', email: 'ada@example.com', ...fields }, call);
}

export async function createProject(gateway: TestGateway, fields: object = {}, call: Call = {}): Promise<AnyRecord> {
  const client_id =
    (fields as { client_id?: string }).client_id ?? ((await createClient(gateway, {}, call)) as { id: string }).id;
  return create(gateway, '/api/v1/projects', { name: 'Engine', client_id, ...fields }, call);
}

/** Types of the account's events, in order. */
export async function eventsOf(accountId: string): Promise<string[]> {
  const events = await Event.find({ account_id: accountId }).sort({ sequence: 1 }).lean();
  return events.map(({ type }) => type);
}

export async function lastEvent(accountId: string): Promise<{ type: string; data: AnyRecord }> {
  const event = await Event.findOne({ account_id: accountId }).sort({ sequence: -1 }).lean();
  return JSON.parse(event?.body ?? '{}');
}

/** Status and body, for answers that must be the same. */
export function answerOf({ status, body }: Reply): [number, unknown] {
  return [status, body];
}
