// Starts the files that run for a minute or more first, so that none of them begins when all others have ended.
import TestSequencer from '@jest/test-sequencer';

/** The longest first. After the first run, jest knows the times of all others by itself. */
const SLOWEST = [
  'system/faults/faults.test.ts',
  'system/gateway/replica-set.test.ts',
  'system/clients/openapi-generator.test.ts',
  'system/gateway/crashes.test.ts',
  'system/gateway/large-answers.test.ts',
  'system/webhooks/lose-nothing.test.ts',
  'system/hostile/ssrf.test.ts',
  'system/webhooks/new-primary.test.ts',
  'system/operations/admin.test.ts',
  'system/gateway/two-gateways.test.ts',
  'system/operations/browser.test.ts',
  'system/gateway/reference-viewer.test.ts',
  'system/gateway/document-batches-faults.test.ts',
  'system/admin/commands.test.ts',
  'system/webhooks/ids-in-ids-out.test.ts',
  'system/deploy/backup.test.ts',
  'system/local/run.test.ts',
  'system/clients/other-generators.test.ts',
  'sweeps/gateway/tenancy.test.ts',
  'sweeps/gateway/mirrors.test.ts',
  'sweeps/hostile/strings.test.ts',
  'sweeps/hostile/documents-images.test.ts',
  'service/gateway/openapi.test.ts',
];

const rankOf = ({ path }) => {
  const rank = SLOWEST.findIndex((file) => path.endsWith(file));
  return rank < 0 ? SLOWEST.length : rank;
};

export default class SlowestFirst extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
