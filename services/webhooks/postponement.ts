// Moves a delivery to later without spending an attempt.
import { agreedTime } from '#libs/clock.ts';
import type { Postponement } from '#libs/models/delivery-clock.ts';
import type { Wait } from './traffic.ts';

/** 2⁶ times the breaker's half minute is half an hour. */
const GROWTH_MAX = 6;

/** @param postponed how often in a row that has happened to it already. */
export function postponementOf({ waitMs, isOpen }: Wait, postponed: number): Postponement {
  // A long queue for an endpoint that is down does not come back all at once, every half minute.
  const factor = isOpen ? 2 ** Math.min(postponed, GROWTH_MAX) : 1;
  return { nextAt: new Date(agreedTime() + Math.round(waitMs * factor)), postponed: postponed + (isOpen ? 1 : 0) };
}
