// Asks Redis what time it is: gateways set deadlines, and ours is only as good as our clock.
import { learnTime } from '#libs/clock.ts';
import type { Redis } from '#libs/redis/connection.ts';

const ASK_EVERY_MS = 10_000;

/** @returns what ends it. */
export function followClock(redis: Pick<Redis, 'time' | 'on' | 'off'>): () => void {
  async function ask() {
    try {
      const [seconds, microseconds] = await redis.time();
      learnTime('redis', Number(seconds) * 1_000 + Number(microseconds) / 1_000);
    } catch {
      // It is away: what it said before still holds.
    }
  }
  const askNow = () => void ask();
  askNow();
  // The first question may come before the connection, and until the next one whatever is taken would go by our own clock.
  redis.on('ready', askNow);
  const timer = setInterval(askNow, ASK_EVERY_MS);
  return () => {
    clearInterval(timer);
    redis.off('ready', askNow);
  };
}
