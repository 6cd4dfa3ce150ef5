// Reads the database as of one instant, without a transaction.
import mongoose from 'mongoose';
import type { Session } from './connection.ts';

/**
 * Runs `reads` in a snapshot session.
 * @param reads one after the other, each with the session and the read concern `snapshot`.
 */
export async function inSnapshot<Result>(reads: (session: Session) => Promise<Result>): Promise<Result> {
  const session = mongoose.connection.getClient().startSession({ snapshot: true });
  try {
    return await reads(session);
  } finally {
    await session.endSession();
  }
}
