// Prints what a load needs, for people or as JSON.
import { printRecord, printTable } from '../print.ts';
import { type Capacity, capacityOf, type Load, type Prices } from './capacity.ts';

/** Prints the capacity for a load. */
export function printCapacity(load: Load, prices: Prices, asJson: boolean): void {
  const capacity = capacityOf(load, prices);
  if (asJson) {
    printRecord({ load, prices, ...capacity }, true);
    return;
  }
  const { needs, ...others } = capacity;
  printTable(needs.map(shown), false);
  process.stdout.write('\n');
  printRecord(inWords(others), false);
}

function shown({ part, processes, cores, memoryGib, diskGib, used }: Capacity['needs'][number]) {
  return {
    part,
    processes,
    cores: cores.toFixed(1),
    'memory GiB': memoryGib.toFixed(1),
    'disk GiB': Math.ceil(diskGib),
    used: used === undefined ? 'scales' : `${Math.round(used * 100)} %`,
  };
}

function inWords(of: Omit<Capacity, 'needs'>) {
  return {
    'busiest hour': `${rate(of.writesPerSecond)} writes, ${rate(of.documentsPerSecond)} documents, ${rate(of.deliveriesPerSecond)} deliveries a second`,
    records: of.records.toLocaleString('en'),
    'price of a month': of.monthlyPrice.toLocaleString('en'),
    'full first': of.firstFull,
  };
}

function rate(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(2) : Math.round(perSecond).toLocaleString('en');
}
