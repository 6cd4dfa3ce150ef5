// A thread that reads one file of others and ends. Its memory and its time are bounded from outside, see read-file.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { Unreadable } from '#libs/e-invoice/read/parse-xml.ts';
import { readEInvoice } from '#libs/e-invoice/read/read-e-invoice.ts';

try {
  parentPort?.postMessage({ read: readEInvoice(workerData as Uint8Array) });
} catch (error) {
  if (!(error instanceof Unreadable)) throw error;
  parentPort?.postMessage({ problem: error.problem });
}
