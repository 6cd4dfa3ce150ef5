// Moves a delivery to later without spending an attempt.
import { agreedTime } from '#libs/clock.ts';
import type { Postponement } from '#libs/models/delivery-clock.ts';
import type { Wait } from './traffic.ts';

/** @param postponed how often in a row that has happened to it already. */
export function postponementOf({ waitMs, isOpen }: Wait, postponed: number): Postponement {
  return { nextAt: new Date(agreedTime() + Math.round(waitMs)), postponed: postponed + (isOpen ? 1 : 0) };
}
