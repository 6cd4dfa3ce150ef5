// Validation of what the operator types on the command line.
import { isPlainName, isPrintable, LINE_BREAK } from '#libs/printable.ts';
import { CommandError } from './connection.ts';

const NAME_LONGEST = 200;
const NOTE_LONGEST = 2_000;

/** Checks a name. @returns it trimmed. @throws CommandError that names the option. */
export function requireName(option: string, text: string): string {
  const name = text.trim();
  if (name.length === 0 || name.length > NAME_LONGEST) {
    throw new CommandError(`${option} must have 1 to ${NAME_LONGEST} characters`);
  }
  if (LINE_BREAK.test(name)) throw new CommandError(`${option} must be one line`);
  if (!isPlainName(name)) throw new CommandError(`${option} must not hold control characters or broken Unicode`);
  return name;
}

/**
 * Runs every check, so that the operator hears of all mistakes at once.
 * @returns the results by name.
 * @throws CommandError with the message of each check that failed.
 */
export function requireAll<Results extends object>(checks: { [Name in keyof Results]: () => Results[Name] }): Results {
  const problems: string[] = [];
  const entries = Object.entries<() => unknown>(checks).map(([name, check]) => {
    try {
      return [name, check()];
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      problems.push(error.message);
      return [];
    }
  });
  if (problems.length > 0) throw new CommandError(problems.join('; '));
  return Object.fromEntries(entries);
}

/** Checks a note. @throws CommandError that names the option. */
export function requireNote(option: string, text: string): string {
  if (text.length > NOTE_LONGEST) throw new CommandError(`${option} must have at most ${NOTE_LONGEST} characters`);
  if (!isPrintable(text)) throw new CommandError(`${option} must not hold control characters or broken Unicode`);
  return text;
}
