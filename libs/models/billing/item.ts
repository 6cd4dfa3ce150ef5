// An entry of the account's catalogue. Lines copy it and never refer to it: a later change rewrites no document.
import { searchText } from '../../search-text.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';

export interface ItemRecord extends Stamped {
  name: string;
  description: string | null;
  /** See units.ts. */
  unit: string | null;
  /** In major units of the currency of the document that it is copied into. */
  rate: number;
  /** Percentage; null is that of the document. */
  tax_rate: number | null;
  /** What `q` looks into, and the order by name, see searchText. */
  search: string;
}

export const itemListing: ListingOf<ItemRecord, 'created_at' | 'updated_at' | 'name'> = {
  filters: [],
  orders: { created_at: '_id', updated_at: 'updated_at', name: 'search' },
  standard: '-created_at',
};

const itemSchema = recordSchema<ItemRecord>(
  'items',
  {
    name: { type: String, required: true },
    description: String,
    unit: String,
    rate: { type: Number, required: true },
    tax_rate: Number,
    search: { type: String, required: true },
  },
  itemListing,
);

export const Item = recordsOf<ItemRecord>('Item', itemSchema);

/** The value of `search`. */
export function itemSearch({ name, description }: Pick<ItemRecord, 'name' | 'description'>): string {
  return searchText(`${name}\n${description ?? ''}`);
}

/** The item as the API returns it. */
export function itemView(item: ItemRecord) {
  return {
    id: String(item._id),
    name: item.name,
    description: item.description,
    unit: item.unit,
    rate: item.rate,
    tax_rate: item.tax_rate,
    created_at: item.created_at.toISOString(),
    updated_at: item.updated_at.toISOString(),
  };
}
