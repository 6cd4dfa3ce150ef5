// The ids that the reference's examples use, by the path segment of their resource, so that all examples fit together.

export const exampleId = {
  clients: '019a1f00-0000-7000-8000-00000000c11e',
  projects: '019a1f00-0000-7000-8000-000000090e07',
  tasks: '019a1f00-0000-7000-8000-0000000007a5',
  'time-entries': '019a1f00-0000-7000-8000-00000000e717',
  timers: '019a1f00-0000-7000-8000-0000000071e4',
  expenses: '019a1f00-0000-7000-8000-0000000e49e5',
  'hour-packages': '019a1f00-0000-7000-8000-0000000049ac',
  items: '019a1f00-0000-7000-8000-0000000017e4',
  quotes: '019a1f00-0000-7000-8000-0000000090e0',
  invoices: '019a1f00-0000-7000-8000-0000000017ce',
  'recurring-invoices': '019a1f00-0000-7000-8000-0000000aec18',
  'credit-notes': '019a1f00-0000-7000-8000-0000000c4ed1',
  payments: '019a1f00-0000-7000-8000-0000000009a1',
  documents: '019a1f00-0000-7000-8000-0000000d0c55',
  messages: '019a1f00-0000-7000-8000-000000003a11',
  links: '019a1f00-0000-7000-8000-000000001124',
  questions: '019a1f00-0000-7000-8000-0000000009ce',
  keys: '019a1f00-0000-7000-8000-0000000008e1',
  webhooks: '019a1f00-0000-7000-8000-00000000e01d',
  deliveries: '019a1f00-0000-7000-8000-00000000de11',
  events: '019a1f00-0000-7000-8000-00000000e4e0',
} as const;

/** The example id of the records under `path`. */
export function exampleIdFor(path: string): string {
  const segment = path.split('/').find((part) => part in exampleId) as keyof typeof exampleId | undefined;
  return exampleId[segment ?? 'clients'];
}
