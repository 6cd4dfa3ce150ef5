// The operator's command line: accounts, keys, webhooks, and the state of the system.
import { Command, Option } from 'commander';
import { createAccount, listAccounts } from './accounts.ts';
import { CommandError, withDatabase } from './connection.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { printRecord, printTable } from './print.ts';

const env = process.env;

const program = new Command('admin')
  .description('Commands for the operator of Billhook.')
  .addHelpText(
    'after',
    `
They work on the system that "npm start" runs here, or on MONGODB_URI.

Examples:
  npm run -s admin -- accounts create --name "Studio North"
  npm run -s admin -- keys create --account ID --name website --scopes clients:write,invoices:read --expires 90d
  npm run -s admin -- keys revoke KEY_ID
`,
  )
  .showHelpAfterError('(--help shows what there is)');

const accounts = program.command('accounts').description('workspaces: the owners of keys and records');
command(accounts, 'create', 'make an account')
  .requiredOption('--name <name>', 'the name of the workspace')
  .option('--email <email>', 'the address documents are issued from')
  .option('--time-zone <zone>', 'IANA name; decides on which day an invoice is overdue', 'UTC')
  .option('--locale <locale>', 'language and number format of documents, such as de-DE', 'en-US')
  .action((options) => answer(options, () => createAccount(options), printRecord));
command(accounts, 'list', 'show all accounts').action((options) => answer(options, listAccounts, printTable));

const keys = program.command('keys').description('API keys of an account; a key is shown once, when it is made');
command(keys, 'create', 'make a key and show it')
  .requiredOption('--account <id>', 'the account it belongs to')
  .option('--name <name>', 'what it is for', 'default')
  .option('--scopes <list>', 'comma-separated, such as clients:write,invoices:read; * is everything', '*')
  .option('--expires <when>', 'a day, a timestamp, or a number of days such as 90d (default: never)')
  .option('--test', 'give it the prefix bh_test_')
  .action((options) => answer(options, () => createKey(options), printRecord));
command(keys, 'list', "show an account's keys, never the keys themselves")
  .requiredOption('--account <id>', 'the account')
  .action((options) => answer(options, () => listKeys(options), printTable));
command(keys, 'revoke <key-id>', 'end a key; the next request with it is refused').action((id, options) =>
  answer(options, () => revokeKey(id), printRecord),
);
command(keys, 'rotate <key-id>', 'make a key like it and end the old one')
  .addOption(new Option('--overlap-hours <hours>', 'how long the old key still works').default(0).argParser(wholeHours))
  .action((id, options) => answer(options, () => rotateKey(id, options), printRecord));

command(program, 'migrate', 'create missing collections and indexes').action((options) =>
  // Connecting creates them; the command exists for deployments that do it before the first gateway.
  answer(options, async () => ({ indexes: 'present' }), printRecord),
);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

interface Options {
  json?: boolean;
  data: string;
}

function command(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--json', 'print JSON, for programs')
    .addOption(new Option('--data <folder>', 'the data folder of the system that runs here').default('.billhook'));
}

async function answer<Result>(
  options: Options,
  work: () => Promise<Result>,
  print: (result: Result, asJson: boolean) => void,
) {
  const target = { mongodbUri: env['MONGODB_URI'] || undefined, dataFolder: options.data };
  print(await withDatabase(target, work), options.json ?? false);
}

function wholeHours(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new CommandError('--overlap-hours must be a whole number of hours');
  return Number(text);
}
