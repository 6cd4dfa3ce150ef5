// The records shown inside an invoice or a quote: its client, its project, and the invoices of a quote.
import type { Session } from '../../mongo/connection.ts';
import { type ClientRecord, clientsOf } from '../accounts/client.ts';
import { readAll } from '../records.ts';
import type { Id, StoredId } from '../tenant.ts';
import { type ProjectRecord, projectsOf } from '../time/project.ts';
import type { Parties } from './parties.ts';
import { invoicesOfQuotes, type QuoteInvoice } from './quote-invoices.ts';

interface Embedding {
  _id: StoredId;
  client_id: StoredId;
  project_id?: StoredId | null | undefined;
  parties?: Parties | undefined;
  /** Set on a quote that invoices were made from. */
  converted_at?: Date | undefined;
}

/** Returns the records to show in a document. A record that does not exist any more is undefined. */
export type EmbeddedIn = (document: Embedding) => {
  client: ClientRecord | undefined;
  project: ProjectRecord | undefined;
  /** The invoices of a quote, see invoicesOfQuotes. */
  invoices: QuoteInvoice[] | undefined;
};

/**
 * Reads the records to show in many documents.
 * @param session of the transaction that writes the event: it must show what earlier events showed.
 */
export async function embeddedIn(
  documents: readonly Embedding[],
  accountId: Id,
  session?: Session,
): Promise<EmbeddedIn> {
  // A document that was sent carries its client as it was then.
  const clientIds = documents.filter(({ parties }) => !parties).map(({ client_id }) => client_id);
  const projectIds = documents.map(({ project_id }) => project_id);
  const [clients, projects] = await readAll(session, [
    () => clientsOf(accountId, clientIds, session),
    () => projectsOf(accountId, projectIds, session),
  ]);
  const converted = documents.filter(({ converted_at }) => converted_at).map(({ _id }) => _id);
  const invoices = await invoicesOfQuotes(converted, accountId, session);
  return ({ _id, client_id, project_id }) => ({
    client: clients.get(String(client_id)),
    project: projects.get(String(project_id)),
    invoices: invoices.get(String(_id)),
  });
}
