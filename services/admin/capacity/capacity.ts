// Calculates what an installation needs for a load: processes, stores, disk and the price of the machines, and what is full first.
import { sumBy } from 'es-toolkit/math/sumBy';
import { COSTS, type Operation, type OperationCost } from './measured-costs.ts';

/** A load. All counts are of one account and one month. */
export interface Load {
  accounts: number;
  invoices: number;
  entries: number;
  /** Documents that are printed or read for each invoice. */
  documents: number;
  /** Reads of records for each record that is written. */
  reads: number;
  endpoints: number;
  /** How much busier the busiest hour is than the average one. */
  peak: number;
  /** Years for which records are kept. */
  years: number;
}

/** Prices of a month, in any currency. */
export interface Prices {
  core: number;
  gib: number;
  diskGib: number;
}

interface Need {
  part: string;
  processes: number;
  cores: number;
  memoryGib: number;
  diskGib: number;
  /** The share of what one of its kind can do: at 1 it is full, however much is paid. Absent where more processes do more. */
  used?: number;
}

export interface Capacity {
  writesPerSecond: number;
  documentsPerSecond: number;
  deliveriesPerSecond: number;
  records: number;
  needs: Need[];
  monthlyPrice: number;
  firstFull: string;
}

const SECONDS_OF_MONTH = 30 * 24 * 3_600;
const GIB = 2 ** 30;
/** The share of a processor that is used in the busiest hour, so that a lost machine leaves room. */
const BUSY = 0.5;
/** The least that runs of each for safety. */
const LEAST = 2;
/** Days for which deliveries are kept. */
const DELIVERY_DAYS = 90;
/** The bytes of MongoDB's disk for a byte of records and indexes, measured with 100,000 and 1,000,000 invoices, see docs/scale.md. */
const COMPRESSED = 0.5;
/** Members of the replica set. */
const MEMBERS = 3;
/** Months whose records are read again and again, and the share of the older ones beside them: what should fit into memory. */
const RECENT_MONTHS = 3;
const OLDER_SHARE = 0.05;
/** A machine that can be rented for one member of a replica set. */
const LARGEST_STORE = { cores: 64, memoryGib: 512, diskGib: 16_384 };
const REDIS_CORES = 1;
const MEMORY_GIB = {
  gateway: 0.3,
  renderer: 1,
  webhooks: 0.35,
  scheduler: 0.11,
  portal: 0.2,
  mail: 0.2,
  operations: 0.13,
};
const SMALL = ['scheduler', 'portal', 'mail', 'operations'] as const;

/** Returns what a load needs. It is an estimate: its costs were measured on one machine, and yours differs. */
export function capacityOf(load: Load, prices: Prices): Capacity {
  const invoices = load.accounts * load.invoices;
  const entries = load.accounts * load.entries;
  const writes = invoices + entries;
  const deliveries = writes * load.endpoints;
  const month: Record<Operation, number> = {
    'create an invoice': writes,
    'PDF of one page': invoices * load.documents,
    'delivery of a webhook': deliveries,
    'read a client': writes * load.reads,
    'list 50 invoices': (writes * load.reads) / 10,
  };
  const perSecond = (count: number) => (count * load.peak) / SECONDS_OF_MONTH;
  const coresOf = (process: Exclude<keyof OperationCost, 'storedBytes'>) =>
    sumBy(Object.entries(month), ([name, count]) => (perSecond(count) * COSTS[name as Operation][process]) / 1_000) /
    BUSY;
  const needs = [
    scaled('gateway', coresOf('gateway'), 1),
    scaled('renderer', coresOf('renderer'), 2),
    scaled('webhooks', coresOf('webhooks'), 1),
    ...SMALL.map((name) => scaled(name, 0.1, 1)),
    mongodb(coresOf('mongodb'), storedBytes(month, load.years), storedBytes(month, RECENT_MONTHS / 12)),
    redis(coresOf('redis')),
  ];
  const limited = needs.filter(({ used }) => used !== undefined);
  const [fullest] = limited.toSorted((a, b) => (b.used ?? 0) - (a.used ?? 0));
  const price = sumBy(
    needs,
    ({ cores, memoryGib, diskGib }) => cores * prices.core + memoryGib * prices.gib + diskGib * prices.diskGib,
  );
  return {
    writesPerSecond: perSecond(writes),
    documentsPerSecond: perSecond(month['PDF of one page']),
    deliveriesPerSecond: perSecond(deliveries),
    records: writes * 12 * load.years,
    needs,
    monthlyPrice: Math.round(price),
    firstFull: fullest ? `${fullest.part}, at ${(1 / (fullest.used ?? 1)).toFixed(1)} times this load` : 'none',
  };
}

function scaled(part: keyof typeof MEMORY_GIB, cores: number, coresOfOne: number): Need {
  const processes = Math.max(LEAST, Math.ceil(cores / coresOfOne));
  return { part, processes, cores: Math.max(0.1 * LEAST, cores), memoryGib: processes * MEMORY_GIB[part], diskGib: 0 };
}

/** Returns the bytes of records and indexes that are stored in the end. Deliveries end after some days; records stay. */
function storedBytes(month: Record<Operation, number>, years: number): number {
  return sumBy(Object.entries(month), ([name, count]) => {
    const months = name === 'delivery of a webhook' ? DELIVERY_DAYS / 30 : 12 * years;
    return count * months * COSTS[name as Operation].storedBytes;
  });
}

function mongodb(cores: number, stored: number, recent: number): Need {
  const working = Math.min(stored, recent) + OLDER_SHARE * Math.max(0, stored - recent);
  const each = {
    cores: Math.max(1, cores),
    memoryGib: Math.max(2, working / GIB),
    diskGib: Math.max(10, (stored * COMPRESSED) / GIB / 0.7),
  };
  const used = Math.max(
    each.cores / LARGEST_STORE.cores,
    each.memoryGib / LARGEST_STORE.memoryGib,
    each.diskGib / LARGEST_STORE.diskGib,
  );
  return {
    part: 'MongoDB',
    processes: MEMBERS,
    cores: each.cores * MEMBERS,
    memoryGib: each.memoryGib * MEMBERS,
    diskGib: each.diskGib * MEMBERS,
    used,
  };
}

function redis(cores: number): Need {
  return {
    part: 'Redis',
    processes: 1,
    cores: Math.max(0.2, cores),
    memoryGib: 1,
    diskGib: 4,
    used: cores / REDIS_CORES,
  };
}
