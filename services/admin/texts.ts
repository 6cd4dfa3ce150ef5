// Validation of names and notes on the command line.
import { isPlainName, isPrintable } from '#libs/printable.ts';
import { CommandError } from './connection.ts';

const NAME_LONGEST = 200;
const NOTE_LONGEST = 2_000;

/** Checks a name. @returns it trimmed. @throws CommandError that names the option. */
export function requireName(option: string, text: string): string {
  const name = text.trim();
  if (name.length === 0 || name.length > NAME_LONGEST) {
    throw new CommandError(`${option} must have 1 to ${NAME_LONGEST} characters`);
  }
  if (!isPlainName(name)) throw new CommandError(`${option} must not hold control characters or broken Unicode`);
  return name;
}

/** Checks a note. @throws CommandError that names the option. */
export function requireNote(option: string, text: string): string {
  if (text.length > NOTE_LONGEST) throw new CommandError(`${option} must have at most ${NOTE_LONGEST} characters`);
  if (!isPrintable(text)) throw new CommandError(`${option} must not hold control characters or broken Unicode`);
  return text;
}
