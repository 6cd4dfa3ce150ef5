// Every oracle, one after the other, on a system that is whole again and at rest.

import type { RoundFacts } from '../round-facts.ts';
import { judgeDocuments } from './oracle-documents.ts';
import { judgeEvents } from './oracle-events.ts';
import type { ReadLogs } from './oracle-logs.ts';
import { judgeNumbers } from './oracle-numbers.ts';
import { type Baseline, judgeProcesses } from './oracle-processes.ts';
import { judgeRecords } from './oracle-records.ts';

/** @returns how many webhooks came twice. What is wrong is in the journal. */
export async function judgeAll(
  facts: RoundFacts,
  { baseline, logs }: { baseline: Baseline; logs: ReadLogs },
): Promise<{ twice: number }> {
  await facts.load.records.retryUnknown();
  await judgeRecords(facts);
  await judgeNumbers(facts);
  const twice = await judgeEvents(facts);
  await judgeDocuments(facts);
  await judgeProcesses(facts, baseline);
  await logs.judge(facts);
  return { twice };
}
