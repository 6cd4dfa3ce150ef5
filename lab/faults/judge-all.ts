// Every oracle, one after the other, on a system that is whole again and at rest.
import { judgeDocuments } from './oracle-documents.ts';
import { judgeEvents } from './oracle-events.ts';
import type { ReadLogs } from './oracle-logs.ts';
import { judgeNumbers } from './oracle-numbers.ts';
import { type Baseline, judgeProcesses } from './oracle-processes.ts';
import { judgeRecords } from './oracle-records.ts';
import type { RoundFacts } from './round-facts.ts';

/** @returns how many webhooks came twice. What is wrong is in the journal. */
export async function judgeAll(
  facts: RoundFacts,
  { baseline, logs, onNext = () => undefined }: { baseline: Baseline; logs: ReadLogs; onNext?: (name: string) => void },
): Promise<{ twice: number }> {
  onNext('O1');
  await facts.load.records.retryUnknown();
  await judgeRecords(facts);
  onNext('O2');
  await judgeNumbers(facts);
  onNext('O3');
  const twice = await judgeEvents(facts);
  onNext('O4');
  await judgeDocuments(facts);
  onNext('O5');
  await judgeProcesses(facts, baseline);
  onNext('O8');
  await logs.judge(facts);
  return { twice };
}
