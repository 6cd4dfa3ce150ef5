// Ports that stay free while their process is down: below the range that the kernel uses for outgoing connections.
import getPort, { portNumbers } from 'get-port';

const LOWEST = 18_000;
const STRIDE = 120;
const STRIDES = 100;

export function steadyPort(): Promise<number> {
  // Two runs at the same time begin at different ports: neither takes one that a restarting process of the other needs.
  const first = LOWEST + (process.pid % STRIDES) * STRIDE;
  return getPort({ host: '127.0.0.1', port: portNumbers(first, first + STRIDE) });
}
