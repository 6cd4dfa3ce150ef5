// The conditions under which a message may change, as filters: MongoDB checks them in the same update that makes the change.
import { type AtTime, type Facts, type Guards, LEASE_GUARDS } from '../moves.ts';

/** The guards by name, with the text in the diagram and the filter. A filter asks for the facts that it needs. */
export const MESSAGE_GUARDS = {
  isOnce: { text: 'no message for this reason exists, where it goes out once', filter: () => ({}) },
  ...LEASE_GUARDS,
  isLater: { text: 'its next attempt is planned for later', filter: ({ now }: AtTime) => ({ next_at: { $gt: now } }) },
  isAsRead: { text: 'unchanged since it was read', filter: ({ revision }: { revision: number }) => ({ revision }) },
  isFirstDoubt: { text: 'it was never unknown before', filter: () => ({ unknown_at: null }) },
  isRepeated: { text: 'it was unknown before', filter: () => ({ unknown_at: { $ne: null } }) },
} as const satisfies Guards;

export type MessageGuard = keyof typeof MESSAGE_GUARDS;

/** All facts that these guards need. */
export type MessageFacts<Names> = Facts<typeof MESSAGE_GUARDS, Names>;
