// The options of a program, read from its command line.
import { type ParseArgsConfig, parseArgs } from 'node:util';

const EXIT_USAGE = 2;

/** Ends the process with code 2, and says what is wrong, when the command line has something else. @param options as parseArgs takes them. */
export function readOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}, see --help\n`);
    process.exit(EXIT_USAGE);
  }
}
