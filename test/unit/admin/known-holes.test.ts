// Versions of the stores that the doctor warns about.
import { expect, test } from '@jest/globals';
import { knownHoles } from '../../../services/admin/known-holes.ts';

const [LUA, JULY] = ['CVE-2025-49844', 'the holes fixed on 24 July 2026'];

test.each([
  ['mongodb', '6.0.5', ['CVE-2025-14847', 'CVE-2026-8053']],
  ['mongodb', '6.0.27', ['CVE-2026-8053']],
  ['mongodb', '6.0.28', []],
  ['mongodb', '7.0.27', ['CVE-2025-14847', 'CVE-2026-8053']],
  ['mongodb', '7.0.33', ['CVE-2026-8053']],
  ['mongodb', '7.0.34', []],
  ['mongodb', '7.3.4', ['CVE-2025-14847', 'CVE-2026-8053']],
  ['mongodb', '8.0.16', ['CVE-2025-14847', 'CVE-2026-8053']],
  ['mongodb', '8.0.23', []],
  ['mongodb', '8.2.6', ['CVE-2026-8053']],
  ['mongodb', '8.2.9', []],
  ['mongodb', '8.3.1', ['CVE-2026-8053']],
  ['mongodb', '8.4.0', []],
  ['mongodb', '4.2.25', ['CVE-2025-14847', 'CVE-2026-8053']],
  ['mongodb', '4.4.30', ['CVE-2026-8053']],
  ['redis', '6.2.5', [LUA, JULY]],
  ['redis', '6.2.23', []],
  ['redis', '7.0.15', [LUA, JULY]],
  ['redis', '7.2.11', [JULY]],
  ['redis', '7.2.15', []],
  ['redis', '7.4.9', [JULY]],
  ['redis', '7.4.10', []],
  ['redis', '8.0.6', [JULY]],
  ['redis', '8.2.3', [JULY]],
  ['redis', '8.2.8', []],
  ['redis', '8.8.0', [JULY]],
  ['redis', '9.0.0', []],
  ['valkey', '8.1.3', [LUA, 'CVE-2026-63639']],
  ['valkey', '8.1.9', []],
  ['valkey', '9.0.4', ['CVE-2026-63639']],
] as const)('when %s is %s, then the doctor names %j', (store, version, holes) => {
  expect(knownHoles(store, version)).toEqual(holes);
});
