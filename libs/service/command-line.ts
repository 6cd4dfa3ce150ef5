// Reads the options of a program from its command line.
import { type ParseArgsConfig, parseArgs } from 'node:util';

const EXIT_USAGE = 2;

/**
 * Reads options. An unknown argument is reported, and the process exits with code 2.
 * @param options as parseArgs takes them.
 */
export function readOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}, see --help\n`);
    process.exit(EXIT_USAGE);
  }
}
