// The error for an unusable configuration, and the exit code for it.

/** The environment is unusable. `message` lists all problems, one per line; the process should exit with 78. */
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
