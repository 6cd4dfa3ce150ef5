// A concurrency limit with a fair share: waiting tasks of different accounts start in turn.

export interface FairLimit {
  /**
   * Waits for a slot.
   * @param signal ends the wait. If it is absent, the wait should be short.
   * @returns a function that releases the slot. A second call does nothing.
   * @throws `signal.reason` when aborted before there was a slot.
   */
  acquire(accountId: string, signal?: AbortSignal): Promise<() => void>;
}

/**
 * A waiting task. It is emptied when the task starts or its wait is aborted, so that the queue keeps no finished
 * request in memory.
 */
interface Waiting {
  start: (() => void) | undefined;
}

/** Opens a limit. @param slots the number of tasks that may run at the same time. */
export function openFairLimit(slots: number): FairLimit {
  /** The queues by account, in the order in which they are served. An account that was served moves to the end. */
  const waiting = new Map<string, Waiting[]>();
  let running = 0;

  function serve() {
    while (running < slots) {
      const [next] = waiting;
      if (!next) return;
      const [accountId, queue] = next;
      const start = takeFirst(queue);
      waiting.delete(accountId);
      if (queue.length > 0) waiting.set(accountId, queue);
      if (!start) continue;
      running += 1;
      start();
    }
  }

  function release() {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      running -= 1;
      serve();
    };
  }

  return {
    acquire(accountId, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const place: Waiting = {
          start() {
            signal?.removeEventListener('abort', onAbort);
            resolve(release());
          },
        };
        const onAbort = () => {
          place.start = undefined;
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        const queue = waiting.get(accountId);
        if (queue) queue.push(place);
        else waiting.set(accountId, [place]);
        serve();
      });
    },
  };
}

/** Runs a task in a slot. @throws what the task throws, or as FairLimit.acquire. */
export async function inSlot<Result>(
  limit: FairLimit,
  accountId: string,
  task: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const release = await limit.acquire(accountId, signal);
  try {
    return await task();
  } finally {
    release();
  }
}

/** Takes the first task that still waits out of the queue, and drops the aborted ones before it. */
function takeFirst(queue: Waiting[]): (() => void) | undefined {
  for (let place = queue.shift(); place; place = queue.shift()) {
    const { start } = place;
    place.start = undefined;
    if (start) return start;
  }
  return undefined;
}
