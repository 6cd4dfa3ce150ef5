// The commands about operators, the people with a login to the operations dashboard.
import {
  insertOperator,
  isOperatorName,
  OPERATOR_ROLES,
  Operator,
  type OperatorRecord,
  type OperatorRole,
  operatorName,
  removeOperator,
  replaceOperator,
} from '#libs/models/operations/operator.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { makePassword, PASSWORD_LONGEST, PASSWORD_SHORTEST } from '#libs/password.ts';
import { recorded } from './audited.ts';
import { CommandError } from './connection.ts';
import { requireAll } from './texts.ts';

/**
 * Makes an operator.
 * @param options.password generated when absent.
 * @param options.replace updates role and password of an existing operator.
 * @returns the operator, with the password only when it was generated, because it cannot be read again.
 */
export async function createOperator(options: { name: string; role: string; password?: string; replace?: boolean }) {
  const given = requireAll({
    name: () => nameOf(options.name),
    role: () => roleOf(options.role),
    password: () => (options.password === undefined ? undefined : passwordOf(options.password)),
  });
  const { name, role, password = makePassword() } = given;
  const { record } = await recorded('operator.create', name, async () => {
    const operator = { name, role, password };
    if (!options.replace) return { record: await insertNew(operator), detail: role };
    const { record, wasThere } = await replaceOperator(operator);
    return { record, detail: wasThere ? `${role}, replaced` : role };
  });
  return { ...view(record), ...(given.password === undefined ? { password } : {}) };
}

async function insertNew(operator: Parameters<typeof insertOperator>[0]) {
  return insertOperator(operator).catch((error) => {
    if (isDuplicate(error))
      throw new CommandError(`There is an operator ${operator.name} already; --replace gives a new password`);
    throw error;
  });
}

export async function listOperators() {
  const operators = await Operator.find().sort({ name: 1 }).lean<OperatorRecord[]>();
  return operators.map(view);
}

export async function dropOperator(given: string) {
  const name = operatorName(given);
  const missing = () => new CommandError(`There is no operator ${given}`);
  if (!(await Operator.exists({ name }))) throw missing();
  await recorded('operator.remove', name, async () => {
    if (!(await removeOperator(name))) throw missing();
    return {};
  });
  return { name, status: 'removed, all sessions ended' };
}

function nameOf(text: string): string {
  const name = operatorName(text);
  if (isOperatorName(name)) return name;
  throw new CommandError('--name must have 1 to 40 letters, digits, dots, dashes or underscores');
}

function passwordOf(text: string): string {
  if (text.length >= PASSWORD_SHORTEST && text.length <= PASSWORD_LONGEST) return text;
  throw new CommandError(`The password must have ${PASSWORD_SHORTEST} to ${PASSWORD_LONGEST} characters`);
}

function roleOf(text: string): OperatorRole {
  const role = OPERATOR_ROLES.find((each) => each === text);
  if (!role) throw new CommandError(`--role must be ${OPERATOR_ROLES.join(' or ')}`);
  return role;
}

function view(operator: OperatorRecord) {
  return {
    name: operator.name,
    role: operator.role,
    created_at: operator.created_at.toISOString(),
    last_login_at: operator.last_login_at?.toISOString(),
  };
}
