// The text printed when the system is ready: the address, the key and three commands to paste.
import type { DemoOperator } from './demo.ts';
import { BRAND_COLOR, LOGO_URL } from './demo-profile.ts';

export interface Facts {
  url: string;
  key: string;
  operationsUrl: string;
  portalUrl: string;
  healthUrls: Record<string, string>;
  mongodbUri: string;
  redisUrl: string;
  redisPrefix: string;
  secretKeyId: string;
  outboundAllow: string;
  receiverUrl: string;
  mailboxUrl?: string; // absent when SMTP_URL names a server
  pids: Record<string, number>;
}

const CHANGED =
  'the password of demo was changed; npm run -s admin -- operators create --name demo --role operator --replace makes another';

const INVOICE = {
  title: 'Invoice',
  number: 'INV-0001',
  date: '2026-01-31',
  dueDate: '2026-02-28',
  clientName: 'Ada Lovelace',
  clientEmail: 'ada@example.com',
  partnerName: 'Studio North',
  partnerEmail: 'hello@north.example',
  amount: 1260,
  taxRate: 20,
  lineItems: [{ description: 'Design', qty: '10', rate: '105' }],
  currencySymbol: '€',
  notes: 'Studio North, Musterstraße 1, 10115 Berlin\nTax number 12/345/67890',
  terms: 'Please pay to Studio North\nIBAN DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX',
  brandColor: BRAND_COLOR,
  logoUrl: LOGO_URL,
};
const CLIENT = { name: 'Ada Lovelace', email: 'ada@example.com' };

export function bannerOf(facts: Facts, operator: DemoOperator, notes: string[]): string {
  const post = (path: string, body: object) =>
    `curl -sS ${facts.url}${path} -H 'Authorization: Bearer ${facts.key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  const login = operator.password ? `log in as ${operator.name} with ${operator.password}` : CHANGED;
  return `
Billhook is ready.

  Address     ${facts.url}
  Key         ${facts.key}
  Account     live: documents look as a customer gets them (admin accounts create --test makes one that marks them TEST)
  Portal      ${facts.portalUrl} (what clients see by a link)
  Operations  ${facts.operationsUrl} (${login})
  Webhooks    ${facts.receiverUrl} (deliveries to the demo account, signatures verified)
  Mail        ${facts.mailboxUrl ? `${facts.mailboxUrl} (all mail ends here)` : 'goes to the server of SMTP_URL'}

Make a PDF:
${post('/api/tools/generate-pdf', INVOICE)} -o invoice.pdf

Create a client:
${post('/api/v1/clients', CLIENT)}

Watch the webhook arrive:
curl -sS ${facts.receiverUrl}/deliveries

${[...notes, 'Ctrl-C stops everything.'].join('\n')}
`;
}
