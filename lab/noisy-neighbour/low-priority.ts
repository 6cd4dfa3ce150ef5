// Lets this process have only the processor time that the measured services leave.
import { getPriority, setPriority } from 'node:os';

/** In steps of which each is about a quarter of processor time. */
const BELOW_SERVICES = 12;
const LOWEST = 19;

/** Below the priority of the run, which may itself be above everything else on the machine. */
export function setLowPriority(): void {
  setPriority(Math.min(LOWEST, getPriority() + BELOW_SERVICES));
}
