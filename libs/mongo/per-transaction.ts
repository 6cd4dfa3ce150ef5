// State of one attempt of a transaction: when the transaction is tried again, the state begins anew.
import type { Session } from './connection.ts';

/** @returns a function that finds the state of the transaction that the session is in, and begins it where there is none. */
export function perTransaction<State extends object>(begin: () => State): (session: Session) => State {
  const states = new WeakMap<object, State>();
  return (session) => {
    // The driver makes a new one for every attempt, and leaves it out of its types.
    const { transaction } = session as unknown as { transaction: object };
    const state = states.get(transaction) ?? begin();
    states.set(transaction, state);
    return state;
  };
}
