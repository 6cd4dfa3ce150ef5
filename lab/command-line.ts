// The command line of a program of the lab: its options and words, `--help`, and one line about a mistake.
import { type ParseArgsConfig, parseArgs } from 'node:util';

const NUMBER = /^\d+(?:\.\d+)?$/;

/**
 * @param help what `--help` prints. The program ends then, with 0, and after a mistake with 2.
 * @param config options as `parseArgs` takes them. A seed, and those whose default is a number, take nothing but numbers.
 */
export function readCommandLine<const Options extends ParseArgsConfig>(help: string, config: Options) {
  if (process.argv.slice(2).includes('--help')) {
    process.stdout.write(help);
    process.exit(0);
  }
  try {
    const read = parseArgs(config);
    for (const [name, { default: usual }] of Object.entries(config.options ?? {})) {
      const given = (read.values as Record<string, unknown>)[name];
      const isNumber = name === 'seed' || NUMBER.test(String(usual));
      if (isNumber && given !== undefined && !NUMBER.test(String(given))) throw new Error(`--${name} must be a number`);
    }
    return read;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}`);
    process.exit(2);
  }
}
