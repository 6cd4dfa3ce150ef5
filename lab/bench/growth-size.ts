// The messages between the benchmark of growing installations and their processes.

/** A step: `relay`, `round`, or the path of a page of the dashboard. */
export type Step = string;

export interface InstallationSize {
  uri: string;
  redisUrl: string;
  prefix: string;
  accounts: number;
}

export const EVENTS_EACH = 10;
