// Starts the files that run for a minute or more first, so that none of them begins when all others have ended.
import TestSequencer from '@jest/test-sequencer';

/** The longest first. After the first run, jest knows the times of all others by itself. */
const SLOWEST = [
  'release/faults/faults.test.ts',
  'release/clients/openapi-generator.test.ts',
  'system/hostile/ssrf.test.ts',
  'system/gateway/document-batches-faults.test.ts',
  'system/webhooks/lose-nothing.test.ts',
  'system/local/other-users.test.ts',
  'system/operations/admin.test.ts',
  'system/hostile/tenants.test.ts',
  'system/renderer/browser.test.ts',
  'system/gateway/replica-set.test.ts',
  'system/gateway/large-answers.test.ts',
  'system/gateway/crashes.test.ts',
  'system/deploy/start-without-stores.test.ts',
  'system/gateway/reference-viewer.test.ts',
  'system/gateway/document-batches-killed.test.ts',
  'system/webhooks/ids-in-ids-out.test.ts',
  'system/admin/commands.test.ts',
  'system/gateway/small-heap.test.ts',
  'sweeps/hostile/strings.test.ts',
  'sweeps/gateway/tenancy.test.ts',
  'sweeps/gateway/bad-input.test.ts',
  'system/deploy/backup.test.ts',
  'system/deploy/rolling-restart.test.ts',
  'sweeps/gateway/lists.test.ts',
  'sweeps/gateway/same-work.test.ts',
  'sweeps/hostile/http-idempotency.test.ts',
  'system/gateway/two-gateways.test.ts',
  'system/webhooks/new-primary.test.ts',
  'system/operations/browser.test.ts',
  'system/local/run.test.ts',
  'release/clients/other-generators.test.ts',
  'service/gateway/api-keys.test.ts',
  'service/renderer/options.test.ts',
  'sweeps/renderer/locale.test.ts',
  'sweeps/gateway/mirrors.test.ts',
  'sweeps/hostile/documents-images.test.ts',
  'sweeps/gateway/examples.test.ts',
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
