// The operator's command line: accounts, keys, webhooks and the state of the system.
import { text } from 'node:stream/consumers';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Queues } from '#libs/jobs/queue.ts';
import { ConfigError, EXIT_CONFIG } from '#libs/service/config-error.ts';
import { createAccount, listAccounts, listUsage, recountAccounts, updateAccount } from './accounts.ts';
import { printCapacity } from './capacity/print-capacity.ts';
import { CommandError, type Target, withDatabase } from './connection.ts';
import { createEndpoint, listDeliveries, listEndpoints, resealEndpoints } from './endpoints.ts';
import { createKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { advanceNumbers } from './numbers.ts';
import { createOperator, dropOperator, listOperators } from './operators.ts';
import { printRecord, printTable } from './print.ts';
import type { queueCommands } from './queues.ts';
import { readSettings, readUsableSettings, type Settings } from './settings.ts';
import { planShards, scriptOf } from './shards/shard-plan.ts';

const env = process.env;

const program = new Command('admin')
  .description('Commands for the operator of Billhook.')
  .addHelpText(
    'after',
    `
They work on the system that "npm start" runs here, or on MONGODB_URI and REDIS_URL (then REDIS_PREFIX, SECRET_KEY and OUTBOUND_ALLOW are its own, too).

Examples:
  npm run -s admin -- accounts create --name "Studio North"
  npm run -s admin -- keys create --account ID --name website --scopes clients:write,invoices:read --expires 90d
  npm run -s admin -- keys revoke KEY_ID
  npm run -s admin -- webhooks create --account ID --url https://example.com/hooks --events client.created
  npm run -s admin -- operators create --name ada --role operator
  npm run -s admin -- doctor
`,
  )
  .showHelpAfterError('(--help shows what there is)');

const accounts = program.command('accounts').description('workspaces: the owners of keys and records');
command(accounts, 'create', 'make an account')
  .requiredOption('--name <name>', 'the name of the workspace')
  .option('--email <email>', 'the address documents are issued from')
  .option('--time-zone <zone>', 'IANA name; decides on which day an invoice is overdue', 'UTC')
  .option('--locale <locale>', 'language and number format of documents, such as de-DE', 'en-US')
  .addOption(entryHours())
  .option('--test', 'for trying things out: its keys begin with bh_test_, its documents are marked TEST')
  .action((options) => answer(options, () => createAccount(options), printRecord));
command(accounts, 'update <account-id>', 'change what is given, and nothing else')
  .option('--name <name>', 'the name of the workspace')
  .option('--email <email>', 'the address documents are issued from')
  .option('--time-zone <zone>', 'IANA name; decides on which day an invoice is overdue')
  .option('--locale <locale>', 'language and number format of documents, such as de-DE')
  .addOption(entryHours())
  .action((id, options) => answer(options, () => updateAccount(id, options), printRecord));
command(accounts, 'list', 'show all accounts').action((options) => answer(options, listAccounts, printTable));
command(accounts, 'usage', 'show how many MiB each account keeps, the largest first').action((options) =>
  answer(options, listUsage, printTable),
);
command(accounts, 'recount [account-id]', 'count records and time anew for totals').action((id, options) =>
  answer(options, () => recountAccounts(id), printTable),
);

const keys = program.command('keys').description('API keys of an account; a key is shown once, when it is made');
command(keys, 'create', 'make a key and show it')
  .requiredOption('--account <id>', 'the account it belongs to')
  .option('--name <name>', 'what it is for', 'default')
  .option('--scopes <list>', 'comma-separated, such as clients:write,invoices:read; * is everything', '*')
  .option('--expires <when>', 'a day, a timestamp, or a number of days such as 90d (default: never)')
  .action((options) => answer(options, () => createKey(options), printRecord));
command(keys, 'list', "show an account's keys, never the keys themselves")
  .requiredOption('--account <id>', 'the account')
  .action((options) => answer(options, () => listKeys(options), printTable));
command(keys, 'revoke <key-id>', 'end a key; the next request with it is refused').action((id, options) =>
  answer(options, () => revokeKey(id), printRecord),
);
command(keys, 'rotate <key-id>', 'make a key like it and end the old one')
  .addOption(
    new Option('--overlap-hours <hours>', 'how long the old key still works').default(0).argParser(wholeNumber),
  )
  .action((id, options) => answer(options, () => rotateKey(id, options), printRecord));

const webhooks = program.command('webhooks').description('endpoints that receive events, and their deliveries');
command(webhooks, 'create', 'register an endpoint; its secret is shown once')
  .requiredOption('--account <id>', 'the account whose events it gets')
  .requiredOption('--url <url>', 'where events are posted to')
  .option('--events <list>', 'comma-separated, such as client.created,invoice.*', '*')
  .option('--description <text>', 'what it is for')
  .action((options) =>
    answer(options, () => createEndpoint(options, readSettings(env), targetOf(options)), printRecord),
  );
command(webhooks, 'list', "show an account's endpoints")
  .requiredOption('--account <id>', 'the account')
  .action((options) => answer(options, () => listEndpoints(options), printTable));
command(webhooks, 'deliveries <endpoint-id>', 'show the newest deliveries of an endpoint')
  .addOption(new Option('--limit <count>', 'how many').default(20).argParser(countingNumber))
  .action((id, options) => answer(options, () => listDeliveries(id, options), printTable));
command(
  webhooks,
  'reseal',
  'encrypt all signing secrets with the first key of SECRET_KEY, after it was changed',
).action((options) => answer(options, () => resealEndpoints(readSettings(env), targetOf(options)), printRecord));

const numbers = program.command('numbers').description('the numbers of invoices, quotes, credit notes and payments');
command(numbers, 'advance', 'skip the numbers sent after a backup that is restored; nothing takes them back')
  .requiredOption('--account <id>', 'the account')
  .requiredOption('--kind <kind>', 'invoice, quote, credit_note or payment')
  .requiredOption('--to <number>', 'the last number that was sent, such as 50 or INV-0050')
  .action((options) => answer(options, () => advanceNumbers(options), printRecord));

const operators = program.command('operators').description('people who may open the operations dashboard');
command(operators, 'create', 'make one; the password is made and shown once, unless it is given')
  .requiredOption('--name <name>', 'what they log in with')
  .option('--role <role>', 'operator may act, viewer may look', 'viewer')
  .option('--password-stdin', 'read the password from standard input')
  .option('--replace', 'give one who exists the new role and password')
  .action(async (options) => {
    const password = options.passwordStdin ? (await text(process.stdin)).replace(/\r?\n$/, '') : undefined;
    await answer(options, () => createOperator({ ...options, password }), printRecord);
  });
command(operators, 'list', 'show all').action((options) => answer(options, listOperators, printTable));
command(operators, 'remove <name>', 'remove one and end every session').action((name, options) =>
  answer(options, () => dropOperator(name), printRecord),
);

const queues = program.command('queues').description('the queues between the services');
command(queues, 'list', 'show how full they are').action((options) =>
  answerFromQueues(options, (all, { list }) => list(all), printTable),
);
command(queues, 'pause <queue>', 'workers finish their current jobs and take no others').action((name, options) =>
  answerFromQueues(options, (all, { pause }) => pause(all, name), printRecord),
);
command(queues, 'resume <queue>', 'let workers take jobs again').action((name, options) =>
  answerFromQueues(options, (all, { resume }) => resume(all, name), printRecord),
);
command(
  queues,
  'retry <queue> [job-id]',
  'put one failed job back, or all; only of those that were kept, and ours are not: see Failures in the dashboard',
).action((name, id, options) => answerFromQueues(options, (all, { retry }) => retry(all, name, id), printRecord));

command(program, 'doctor', 'look at config, stores, queues, clocks and browser, and say what to do')
  .option('--services <urls...>', 'health ports to ask as well, such as http://renderer:9090')
  .action(async (options) => {
    const { examine, printFindings } = await import('./doctor.ts');
    const findings = await examine(env, targetOf(options, readUsableSettings(env)), options.services ?? []);
    printFindings(findings, options.json ?? false);
    if (findings.some(({ status }) => status === 'problem')) process.exitCode = 1;
  });

program
  .command('capacity')
  .description('calculate what a load needs; it asks no database')
  .addOption(count('--accounts <n>', 'accounts', 1_000))
  .addOption(count('--invoices <n>', 'invoices of an account in a month', 20))
  .addOption(count('--entries <n>', 'other records of an account in a month: time entries, payments, clients', 200))
  .addOption(count('--documents <n>', 'documents that are printed for an invoice', 2))
  .addOption(count('--reads <n>', 'reads for each record that is written', 20))
  .addOption(count('--endpoints <n>', 'webhook endpoints of an account', 1))
  .addOption(count('--peak <n>', 'how much busier the busiest hour is than the average one', 8))
  .addOption(count('--years <n>', 'years for which records are kept', 10))
  .addOption(count('--core-price <n>', 'the price of a core for a month', 20))
  .addOption(count('--memory-price <n>', 'the price of a GiB of memory for a month', 4))
  .addOption(count('--disk-price <n>', 'the price of a GiB of disk for a month', 0.1))
  .option('--json', 'print JSON')
  .action(({ corePrice, memoryPrice, diskPrice, json, ...load }) =>
    printCapacity(load, { core: corePrice, gib: memoryPrice, diskGib: diskPrice }, json ?? false),
  );

const shards = program.command('shards').description('a sharded cluster of MongoDB');
shards
  .command('plan')
  .description('print the commands of mongosh that shard a database; it asks no database')
  .requiredOption('--shards <names>', 'comma-separated, as sh.status() shows them', (names) => names.split(','))
  .option('--database <name>', 'the database of MONGODB_URI', 'billhook')
  .option('--json', 'print JSON')
  .action(({ json, ...plan }) => {
    const steps = planShards(plan);
    process.stdout.write(json ? `${JSON.stringify(steps)}\n` : scriptOf(steps));
  });

command(program, 'migrate', 'create missing collections and indexes').action((options) =>
  // Connecting makes the indexes. The command is for deployments that make them before the first gateway starts.
  answer(options, async () => ({ indexes: 'present' }), printRecord),
);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommandError || error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : 1;
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
  print(await withDatabase(targetOf(options), work), options.json ?? false);
}

async function answerFromQueues<Result>(
  options: Options,
  work: (queues: Queues, commands: typeof queueCommands) => Promise<Result>,
  print: (result: Result, asJson: boolean) => void,
) {
  const { withQueues } = await import('./with-queues.ts');
  const { queueCommands } = await import('./queues.ts');
  print(await withQueues(targetOf(options), (queues) => work(queues, queueCommands)), options.json ?? false);
}

function targetOf(options: Options, settings: Settings = readSettings(env)): Target {
  return {
    mongodbUri: settings.MONGODB_URI,
    redisUrl: settings.REDIS_URL,
    redisPrefix: settings.REDIS_PREFIX,
    dataFolder: options.data,
  };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 to 9999.');
  return Number(text);
}

function entryHours(): Option {
  return new Option(
    '--max-entry-hours <hours>',
    'hours that one time entry may have at most (24 unless set)',
  ).argParser(Number);
}

/** Reads a number of 1 or more, because MongoDB treats 0 as no limit. */
function countingNumber(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError('It must be at least 1.');
  return number;
}

/** Returns an option of a load or a price. */
function count(flags: string, description: string, standard: number): Option {
  return new Option(flags, description).default(standard).argParser((text) => {
    const number = Number(text);
    if (text.trim() === '' || !(number >= 0 && number <= 1e12)) {
      throw new InvalidArgumentError('It must be a number from 0 to 1,000,000,000,000.');
    }
    return number;
  });
}
