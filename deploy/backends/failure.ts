// A problem that the user can fix. It is shown as a message without a stack trace.

export const EXIT_FAILED = 1;

export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'Failure';
    this.exitCode = options.exitCode ?? EXIT_FAILED;
  }
}

// Returns an error in one line, for the list of tried sources.
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.trim().split('\n')[0] ?? text;
}
