// Commands for operators: the people with a login to the operations dashboard.
import { audit } from '#libs/models/operations/audit-entry.ts';
import {
  insertOperator,
  isOperatorName,
  OPERATOR_ROLES,
  Operator,
  type OperatorRecord,
  type OperatorRole,
  operatorName,
  removeOperator,
} from '#libs/models/operations/operator.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { makePassword, PASSWORD_LONGEST, PASSWORD_SHORTEST } from '#libs/password.ts';
import { ACTOR } from './audited.ts';
import { CommandError } from './connection.ts';

/**
 * @param options.password generated when absent. @param options.replace updates role and password of an existing operator.
 * @returns the operator, with the password only when it was generated, because it cannot be read again.
 */
export async function createOperator(options: { name: string; role: string; password?: string; replace?: boolean }) {
  const name = operatorName(options.name);
  if (!isOperatorName(name)) {
    throw new CommandError('--name must have 1 to 40 letters, digits, dots, dashes or underscores');
  }
  const role = roleOf(options.role);
  const given = options.password;
  if (given !== undefined && (given.length < PASSWORD_SHORTEST || given.length > PASSWORD_LONGEST)) {
    throw new CommandError(`The password must have ${PASSWORD_SHORTEST} to ${PASSWORD_LONGEST} characters`);
  }
  const password = given ?? makePassword();
  const replaced = options.replace ? await removeOperator(name) : false;
  const record = await insertOperator({ name, role, password }).catch((error) => {
    if (isDuplicate(error))
      throw new CommandError(`There is an operator ${name} already; --replace gives a new password`);
    throw error;
  });
  const detail = replaced ? `${role}, replaced` : role;
  await audit({ operator: ACTOR, action: 'operator.create', target: name }, 'done', detail);
  return { ...view(record), ...(given === undefined ? { password } : {}) };
}

export async function listOperators() {
  const operators = await Operator.find().sort({ name: 1 }).lean<OperatorRecord[]>();
  return operators.map(view);
}

export async function dropOperator(name: string) {
  if (!(await removeOperator(name))) throw new CommandError(`There is no operator ${name}`);
  await audit({ operator: ACTOR, action: 'operator.remove', target: operatorName(name) }, 'done');
  return { name: operatorName(name), status: 'removed, all sessions ended' };
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
