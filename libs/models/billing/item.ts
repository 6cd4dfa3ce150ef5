// An entry of the account's catalogue. Lines copy it and never refer to it, so a later change rewrites no document.
import { searchText } from '../../search-text.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';

export interface ItemRecord extends Stamped {
  name: string;
  description: string | null;
  /** A unit, see units.ts. */
  unit: string | null;
  /** The rate in major units of the currency of the document that copies it. */
  rate: number;
  /** A percentage. Null means that of the document. */
  tax_rate: number | null;
  /** The searched text in the form of searchText. `q` looks here, and the order by name uses it. */
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

/** Returns the value of the field `search`. */
export function itemSearch({ name, description }: Pick<ItemRecord, 'name' | 'description'>): string {
  return searchText(`${name}\n${description ?? ''}`);
}

/** Returns the item in the form of the API. */
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
