// The schema of records that callers make and change. `tsc` names a field that only the record's type or only the
// schema has.
import { Schema } from 'mongoose';
import { addListIndexes, type Listing } from './list-indexes.ts';
import type { Stamped } from './records.ts';
import { idField, newId, requiredIdField, tenant } from './tenant.ts';

/** A field as mongoose declares it: `String`, or `{ type: String, required: true }`. */
type Declared = object;

/**
 * Makes a schema.
 * @param fields all of `Stored` but those of every record.
 * @param listing declares the indexes of its lists.
 */
export function recordSchema<Stored extends Stamped>(
  collection: string,
  fields: Record<Exclude<keyof Stored, keyof Stamped>, Declared>,
  listing: Listing,
): Schema {
  const schema = new Schema(
    {
      _id: { ...idField, default: newId },
      account_id: requiredIdField,
      ...fields,
      created_at: { type: Date, required: true, default: () => new Date() },
      updated_at: { type: Date, required: true, default: () => new Date() },
    },
    { versionKey: false, strict: 'throw', collection },
  );
  schema.plugin(tenant);
  addListIndexes(schema, listing);
  return schema;
}
