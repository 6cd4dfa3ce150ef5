// Ports that stay free while the one who listens there is down: below those the kernel gives to outgoing connections.
import getPort, { portNumbers } from 'get-port';

const LOWEST = 18_000;
const STRIDE = 120;
const STRIDES = 100;

export function steadyPort(): Promise<number> {
  // Where two runs at a time begin in different places, neither takes what the other's crashed part will want again.
  const first = LOWEST + (process.pid % STRIDES) * STRIDE;
  return getPort({ host: '127.0.0.1', port: portNumbers(first, first + STRIDE) });
}
