// A problem the person at the terminal can repair: shown as its message alone, never as a stack trace.

export const EXIT_FAILED = 1;

export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'Failure';
    this.exitCode = options.exitCode ?? EXIT_FAILED;
  }
}

// One line of an error, for a list of what was tried.
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.trim().split('\n')[0] ?? text;
}
