// A person who uses the operations dashboard. A viewer reads, an operator acts. Operators belong to no account.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { inTransaction, type Session } from '../../mongo/connection.ts';
import { hashPassword, verifyPassword } from '../../password.ts';
import { idField, newId } from '../tenant.ts';
import { OperatorBrowser, operatorOfBrowser } from './operator-browser.ts';
import { OperatorSession } from './operator-session.ts';

export const OPERATOR_ROLES = ['operator', 'viewer'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

const operatorSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    /** The name in lower case. */
    name: { type: String, required: true },
    role: { type: String, required: true, enum: OPERATOR_ROLES },
    password_hash: { type: String, required: true },
    created_at: { type: Date, required: true, default: () => new Date() },
    last_login_at: Date,
  },
  { versionKey: false, strict: 'throw', collection: 'operators' },
);
operatorSchema.index({ name: 1 }, { unique: true });

export type OperatorRecord = InferSchemaType<typeof operatorSchema>;

export const Operator = model('Operator', operatorSchema);

/** A name has 1 to 40 letters, digits, dots, dashes and underscores. */
const NAME_FORM = /^[\p{L}\p{N}._-]{1,40}$/u;

/** True for a text in the form of NAME_FORM. */
export function isOperatorName(text: string): boolean {
  return NAME_FORM.test(text);
}

/** Returns the stored form of a name. Names that differ only in case belong to the same person. */
export function operatorName(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase();
}

interface NewOperator {
  name: string;
  role: OperatorRole;
  password: string;
}

/** Inserts an operator. @throws the driver's duplicate error when the name is taken, see isDuplicate. */
export async function insertOperator(operator: NewOperator) {
  return (await Operator.create(await fieldsOf(operator))).toObject();
}

/** Inserts an operator in place of one with the same name, if there is one. Either both writes happen or none. */
export async function replaceOperator(operator: NewOperator) {
  // Hashing takes a quarter of a second, so it comes before the transaction.
  const fields = await fieldsOf(operator);
  return inTransaction(async (session) => {
    const wasThere = await removeOperator(fields.name, session);
    const record = new Operator(fields);
    await record.save({ session });
    return { record: record.toObject(), wasThere };
  });
}

async function fieldsOf({ name, role, password }: NewOperator) {
  return { name: operatorName(name), role, password_hash: await hashPassword(password) };
}

/** Returns the operator with this name and password, else null. Both cases take the same time. */
export async function findByPassword(name: string, password: string): Promise<OperatorRecord | null> {
  const operator = await Operator.findOne({ name: operatorName(name) }).lean<OperatorRecord>();
  return (await verifyPassword(password, operator?.password_hash)) ? operator : null;
}

/** True when this operator has logged in with the browser that holds the token. */
export async function isBrowserOf(name: string, token: string): Promise<boolean> {
  const operatorId = await operatorOfBrowser(token);
  return operatorId !== undefined && (await Operator.exists({ _id: operatorId, name: operatorName(name) })) !== null;
}

/**
 * Removes the operator, ends their sessions and forgets their browsers.
 * @returns false when no operator has the name.
 */
export async function removeOperator(name: string, session?: Session): Promise<boolean> {
  const options = session ? { session } : {};
  const operator = await Operator.findOneAndDelete({ name: operatorName(name) }, options).lean<OperatorRecord>();
  if (!operator) return false;
  await OperatorSession.deleteMany({ operator_id: operator._id }, options);
  await OperatorBrowser.deleteMany({ operator_id: operator._id }, options);
  return true;
}
