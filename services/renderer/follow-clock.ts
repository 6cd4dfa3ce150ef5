// Follows the clock of Redis, because gateways set the deadlines that this renderer keeps.
import { learnTime } from '#libs/clock.ts';
import { nodeName, primariesOf, type Redis, type Server } from '#libs/redis/connection.ts';

const ASK_EVERY_MS = 10_000;

/** Follows the clock. @returns a function that stops it. */
export function followClock(redis: Redis): () => void {
  async function ask(server: Server) {
    try {
      const [seconds, microseconds] = await server.time();
      learnTime(`redis ${nodeName(server)}`, Number(seconds) * 1_000 + Number(microseconds) / 1_000);
    } catch {
      // Redis is unavailable, and its last time still holds.
    }
  }
  const askNow = () => {
    for (const server of primariesOf(redis)) void ask(server);
  };
  askNow();
  // The first question may fail before the connection is ready. Jobs would then use the local clock until the next one.
  redis.on('ready', askNow);
  const timer = setInterval(askNow, ASK_EVERY_MS);
  return () => {
    clearInterval(timer);
    redis.off('ready', askNow);
  };
}
