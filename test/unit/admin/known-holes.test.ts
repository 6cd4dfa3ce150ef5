// Which versions of the stores the doctor warns of.
import { expect, test } from '@jest/globals';
import { knownHole } from '../../../services/admin/known-holes.ts';

test.each([
  ['mongodb', '6.0.5', 'CVE-2025-14847'],
  ['mongodb', '6.0.27', undefined],
  ['mongodb', '7.0.27', 'CVE-2025-14847'],
  ['mongodb', '7.3.4', 'CVE-2025-14847'],
  ['mongodb', '8.2.3', undefined],
  ['mongodb', '8.3.0', undefined],
  ['mongodb', '4.2.25', 'CVE-2025-14847'],
  ['redis', '6.2.5', 'CVE-2025-49844'],
  ['redis', '7.0.15', 'CVE-2025-49844'],
  ['redis', '7.2.11', undefined],
  ['redis', '8.2.3', undefined],
  ['redis', '9.0.0', undefined],
  ['valkey', '8.1.3', 'CVE-2025-49844'],
  ['valkey', '8.1.4', undefined],
] as const)('when %s is %s, then the hole named is %s', (store, version, hole) => {
  expect(knownHole(store, version)).toBe(hole);
});
