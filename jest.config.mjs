// What a test needs decides its folder, and the folder decides when it runs. Sweeps try all operations or fields with many inputs:
// `npm test` takes a sample of them, and of the cases of the unit tests' properties, and the system tier runs sweeps whole. Where both tiers run,
// `TEST_SAMPLE=none` leaves the sample of the sweeps out and runs all cases of the properties.

// A worker imports each module once for all of its files (ADR 58). A run that watches needs new modules each time, and jest's own
// module system counts what is covered.
const isIsolated = process.argv.some((given) => /^--(?:watch|coverage|collectCoverage)/.test(given));
const modules = isIsolated
  ? {}
  : {
      testEnvironment: '<rootDir>/test/support/shared-modules/environment.mjs',
      runtime: '<rootDir>/test/support/shared-modules/runtime.mjs',
    };
const shared = { ...modules, extensionsToTreatAsEsm: ['.ts'], transform: { '^.+\\.ts$': '@swc/jest' } };

// MongoDB, Redis and Chromium are started once for all tiers that need them.
const onBackends = {
  ...shared,
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

const hasSample = process.env['TEST_SAMPLE'] !== 'none';
const form = hasSample ? { globals: { FORM: 'sample' } } : {};

/** @type {import('jest').Config} */
export default {
  projects: [
    { ...shared, ...form, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'] },
    { ...onBackends, displayName: 'service', testMatch: ['<rootDir>/test/service/**/*.test.ts'] },
    { ...onBackends, displayName: 'journeys', testMatch: ['<rootDir>/test/journeys/**/*.test.ts'] },
    {
      ...onBackends,
      ...form,
      displayName: 'sample',
      testMatch: ['<rootDir>/test/sweeps/**/*.test.ts'],
      // The named files are long sequences, of which no part says anything.
      testPathIgnorePatterns: hasSample ? ['/gateway/examples', '/gateway/mirrors', '/gateway/list-cursors'] : ['/'],
    },
    { ...onBackends, displayName: 'sweeps', testMatch: ['<rootDir>/test/sweeps/**/*.test.ts'] },
    { ...onBackends, displayName: 'system', testMatch: ['<rootDir>/test/system/**/*.test.ts'] },
    { ...onBackends, displayName: 'release', testMatch: ['<rootDir>/test/release/**/*.test.ts'] },
  ],
  testSequencer: '<rootDir>/test/support/slowest-first.mjs',
  reporters: ['default', '<rootDir>/test/support/closing-line.mjs'],
  // Every suite shares two cores with a real Chromium, MongoDB and Redis: a limit here only stops a hang.
  testTimeout: 180_000,
  // Two cores are busy with three: a test waits for slow hashes, revoked keys and browsers. Each further worker compiles all code once
  // more: the same tests took a sixth more processor time with four.
  maxWorkers: 3,
  // The process of a worker takes half a second to end, in which Node.js frees its memory. Jest waits that long by default.
  workerGracefulExitTimeout: 10_000,
  coverageProvider: 'v8',
  collectCoverageFrom: ['libs/**/*.ts', 'services/**/*.ts', 'deploy/**/*.ts'],
};
