// Records of an account for programs that move time and money: a client with a project, invoices, quotes and payments.

// biome-ignore lint/suspicious/noExplicitAny: programs look into records of every shape.
export type AnyRecord = any;

/** @param path below /api/v1. @returns `data` of the response. @throws Error unless the call succeeds. */
export type Caller = (method: string, path: string, body?: object) => Promise<AnyRecord>;

export interface BillingWorld {
  client_id: string;
  project_id: string;
  /** Logs hours of the project, one entry each. @returns their ids. */
  logged(count: number): Promise<string[]>;
  /** Sent unless `fields` say otherwise. */
  invoice(fields?: object): Promise<AnyRecord>;
  quote(fields?: object): Promise<AnyRecord>;
  payment(fields: object): Promise<AnyRecord>;
  /** An invoice of so many new entries. */
  billed(status: 'Draft' | 'Sent', entries: number): Promise<AnyRecord & { entries: string[] }>;
}

export async function madeBy(call: Caller): Promise<BillingWorld> {
  const { id: client_id } = await call('POST', '/clients', { name: 'Ada', email: 'ada@example.com' });
  const { id: project_id } = await call('POST', '/projects', { name: 'Engine', client_id, hourly_rate: 100 });
  const logged = async (count: number) => {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const entry = await call('POST', '/time-entries', { project_id, hours: 1, date: '2026-01-02' });
      ids.push(entry.id);
    }
    return ids;
  };
  return {
    client_id,
    project_id,
    logged,
    invoice: (fields = {}) =>
      call('POST', '/invoices', { client_id, amount: 80, due_date: '2099-01-01', status: 'Sent', ...fields }),
    quote: (fields = {}) => call('POST', '/quotes', { client_id, amount: 999.99, tax_rate: 19, ...fields }),
    payment: (fields) => call('POST', '/payments', { client_id, ...fields }),
    async billed(status, count) {
      const entries = await logged(count);
      return { ...(await call('POST', '/invoices/from-time', { client_id, status })), entries };
    },
  };
}
