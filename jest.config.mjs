/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  reporters: ['default', '<rootDir>/test/support/closing-line.mjs'],
  // Every suite shares two cores with a real Chromium, MongoDB and Redis: a limit here only stops a hang.
  testTimeout: 180_000,
  maxWorkers: 2,
  coverageProvider: 'v8',
  collectCoverageFrom: ['libs/**/*.ts', 'services/**/*.ts', 'deploy/**/*.ts'],
};
