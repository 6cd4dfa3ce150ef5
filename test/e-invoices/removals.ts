// The plain invoice and others with one field less: our list of what is missing has to say what the official rules say.
import type { Parties } from '#libs/models/billing/parties.ts';
import { type Case, cases } from './cases.ts';

const FROM = ['plain', 'a small business', 'reverse charge', 'export', 'outside the scope of tax', 'credit note'];
const FIELDS: Readonly<Record<'issuer' | 'client', readonly string[]>> = {
  issuer: [
    'company',
    'legal_name',
    'email',
    'phone',
    'legal_id',
    'vat_id',
    'tax_number',
    'electronic_address',
    'postal_address',
    'postal_address.line1',
    'postal_address.city',
    'postal_address.postal_code',
    'payment_options',
  ],
  client: [
    'company_name',
    'vat_id',
    'electronic_address',
    'postal_address',
    'postal_address.line1',
    'postal_address.city',
    'postal_address.postal_code',
    'buyer_reference',
  ],
};

export function removals(): [string, Case][] {
  return FROM.flatMap((name) =>
    (['issuer', 'client'] as const).flatMap((who) =>
      FIELDS[who].map((field): [string, Case] => {
        const one = cases[name] as Case;
        return [`${name} without ${who}.${field}`, { ...one, parties: lacking(one.parties, who, field) }];
      }),
    ),
  );
}

function lacking(parties: Parties, who: 'issuer' | 'client', field: string): Parties {
  const copy = structuredClone(parties) as unknown as Record<string, Record<string, Record<string, unknown>>>;
  const [outer = '', inner] = field.split('.');
  const party = copy[who] as Record<string, Record<string, unknown>>;
  if (inner === undefined) delete party[outer];
  else delete party[outer]?.[inner];
  return copy as unknown as Parties;
}
