// The measured cost of each operation, as the table in docs/scale.md has it; a test compares them. `npm run bench capacity` measures anew.

export interface OperationCost {
  /** Milliseconds of processor time by process. The renderer's are with its browser. */
  gateway: number;
  renderer: number;
  webhooks: number;
  mongodb: number;
  redis: number;
  /** Bytes of records and indexes, before compression. */
  storedBytes: number;
}

export const COSTS = {
  'read a client': cost({ gateway: 0.6, renderer: 0.015, webhooks: 0.005, mongodb: 0.21 }),
  'list 50 invoices': cost({ gateway: 3, renderer: 0.04, webhooks: 0.02, mongodb: 1.2 }),
  'create an invoice': cost({
    gateway: 2.4,
    renderer: 0.1,
    webhooks: 1.9,
    mongodb: 3.1,
    redis: 0.38,
    storedBytes: 3_700,
  }),
  'PDF of one page': cost({ gateway: 1.5, renderer: 10, mongodb: 0.13, redis: 0.47, storedBytes: 192 }),
  'delivery of a webhook': cost({
    gateway: 0.0067,
    renderer: 0.06,
    webhooks: 0.87,
    mongodb: 0.36,
    redis: 0.17,
    storedBytes: 1_100,
  }),
} as const satisfies Record<string, OperationCost>;

export type Operation = keyof typeof COSTS;

function cost(measured: Partial<OperationCost>): OperationCost {
  return { gateway: 0, renderer: 0, webhooks: 0, mongodb: 0, redis: 0, storedBytes: 0, ...measured };
}
