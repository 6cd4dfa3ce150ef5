// Backs up the database to a folder and restores it: npm run -s backup -- save|restore FOLDER
import { parseArgs } from 'node:util';
import Joi from 'joi';
import { MongoClient } from 'mongodb';
import { ConfigError, EXIT_CONFIG } from '#libs/service/config-error.ts';
import { readEnv, variables } from '#libs/service/env.ts';
import { BackupError } from './archive.ts';
import { inWords } from './in-words.ts';
import { recordBackup } from './record.ts';
import { restore } from './restore.ts';
import { save } from './save.ts';

const HELP = `Usage: npm run -s backup -- save FOLDER
       npm run -s backup -- restore FOLDER
       npm run -s backup -- record

  save      writes every collection of MONGODB_URI, all as of one instant, into FOLDER, which must not exist
  restore   brings FOLDER into the database of MONGODB_URI, which must be empty; then run "admin migrate" for the indexes
  record    says that another program has just made a backup, such as a snapshot of the volume

The database keeps the time of the last backup, for the dashboard, "admin doctor" and the alert of old backups.

Variables: MONGODB_URI or MONGODB_URI_FILE
`;

const work = { save, restore };
const RECORD = 'record';

try {
  const { values, positionals } = readArguments();
  if (values.help) process.stdout.write(HELP);
  else await run(positionals);
} catch (failure) {
  const error = inWords(failure);
  if (!(error instanceof BackupError || error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : 1;
}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { help: { type: 'boolean', short: 'h' } } });
  } catch (error) {
    throw new BackupError(`${(error as Error).message}\n\n${HELP}`);
  }
}

async function run([command = '', folder, ...more]: string[]) {
  const isRecord = command === RECORD && folder === undefined;
  if (!isRecord && (!folder || more.length > 0 || !Object.hasOwn(work, command))) throw new BackupError(HELP);
  const { MONGODB_URI } = readEnv(process.env, Joi.object({ MONGODB_URI: variables.MONGODB_URI }));
  const client = new MongoClient(MONGODB_URI, { serverSelectionTimeoutMS: 10_000 });
  try {
    if (isRecord || !folder) {
      await recordBackup(client, new Date());
      process.stdout.write('record: the backup of now is recorded\n');
      return;
    }
    const { collections, savedAt } = await work[command as keyof typeof work](client, folder);
    const documents = Object.values(collections).reduce((sum, { count }) => sum + count, 0);
    process.stdout.write(`${command}: ${Object.keys(collections).length} collections, ${documents} documents\n`);
    if (command === 'save') await recordSaved(client, savedAt, documents);
  } finally {
    await client.close();
  }
}

/** Records a backup that was saved. A user that may only read the database can save it all the same. */
async function recordSaved(client: MongoClient, savedAt: string, documents: number) {
  try {
    await recordBackup(client, new Date(savedAt), documents);
  } catch (error) {
    const reason = (inWords(error) as Error).message;
    process.stderr.write(
      `The backup is complete, but the database did not record it, so it will count as missing: ${reason}\n`,
    );
  }
}
