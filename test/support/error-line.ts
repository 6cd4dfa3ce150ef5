// Reads the error of a command that a test calls in its own process. As a process, the command prints it on standard error and exits with 1.
import { expect } from '@jest/globals';

/** Returns the message of the error with which `work` ends: one of this class, in one line. */
export async function errorLineOf(
  work: Promise<unknown>,
  errorClass: new (...given: never[]) => Error,
): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (each) => each,
  );
  expect(error).toBeInstanceOf(errorClass);
  const { message } = error as Error;
  expect(message).not.toContain('\n');
  return message;
}
