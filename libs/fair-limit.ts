// A concurrency limit with a fair share: waiting tasks of different accounts start in turn.

export interface FairLimit {
  /**
   * Waits for a slot.
   * @param signal ends the wait. @returns a function that releases the slot; a second call does nothing.
   * @throws `signal.reason` when aborted before there was a slot.
   */
  acquire(accountId: string, signal: AbortSignal): Promise<() => void>;
}

/** @param slots how many tasks may run at the same time. */
export function openFairLimit(slots: number): FairLimit {
  /** By account, in the order in which they are served. An account that was served moves to the end. */
  const waiting = new Map<string, Set<() => void>>();
  let running = 0;

  function serve() {
    while (running < slots) {
      const [next] = waiting;
      if (!next) return;
      const [accountId, queue] = next;
      const [start] = queue;
      waiting.delete(accountId);
      if (!start) continue;
      queue.delete(start);
      if (queue.size > 0) waiting.set(accountId, queue);
      running += 1;
      start();
    }
  }

  function release() {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running -= 1;
      serve();
    };
  }

  return {
    acquire(accountId, signal) {
      return new Promise((resolve, reject) => {
        const queue = waiting.get(accountId) ?? new Set();
        const onAbort = () => {
          if (queue.delete(start)) reject(signal.reason);
        };
        const start = () => {
          signal.removeEventListener('abort', onAbort);
          resolve(release());
        };
        queue.add(start);
        waiting.set(accountId, queue);
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
        serve();
      });
    },
  };
}
