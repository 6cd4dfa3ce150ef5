// A thread that reads one delivery report and ends. Its memory and its time are bounded from outside, see read-report.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { parseReport } from './parse-report.ts';

parentPort?.postMessage({ report: await parseReport(workerData as Uint8Array) });
