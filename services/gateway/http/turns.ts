// Lets one task of a name run at a time in this process: a storm of conflicts in the database becomes a queue in memory.

const tails = new Map<string, Promise<unknown>>();

/** Runs `task` after all earlier tasks of the same `name` have ended, however they ended. */
export async function inTurn<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
  const before = tails.get(name) ?? Promise.resolve();
  const turn = before.then(task, task);
  const tail = turn.catch(() => undefined);
  tails.set(name, tail);
  try {
    return await turn;
  } finally {
    if (tails.get(name) === tail) tails.delete(name);
  }
}
