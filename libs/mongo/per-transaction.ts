// State of one attempt of a transaction. When the transaction is tried again, the state begins anew.
import type { Session } from './connection.ts';

/** Returns a function that finds the state of the session's transaction, and begins it where there is none. */
export function perTransaction<State extends object>(begin: () => State): (session: Session) => State {
  const states = new WeakMap<object, State>();
  return (session) => {
    // The driver makes a new object for every attempt, and leaves it out of its types.
    const { transaction } = session as unknown as { transaction: object };
    const state = states.get(transaction) ?? begin();
    states.set(transaction, state);
    return state;
  };
}
