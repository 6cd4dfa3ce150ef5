// What a program says of a configuration it cannot use, and how it ends.

/** The environment cannot be used. `message` is the whole list, one problem per line; the process should exit with 78. */
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
