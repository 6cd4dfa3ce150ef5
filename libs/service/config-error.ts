// The error for an unusable configuration, and the exit code for it.

/**
 * The error of an unusable environment. `message` lists all problems, one per line. The process should exit with 78.
 */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** sysexits.h EX_CONFIG. */
export const EXIT_CONFIG = 78;
