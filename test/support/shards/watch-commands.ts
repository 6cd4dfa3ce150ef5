// Judges every command that the system sends to MongoDB by the shards that it would ask. One that asks all of them needs a row in
// commands-to-all-shards.ts.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { mongo } from 'mongoose';
import { COMMANDS_TO_ALL_SHARDS } from './commands-to-all-shards.ts';
import { type Ask, asksOf } from './judge-command.ts';

type Command = Record<string, unknown> & { lsid?: { id: unknown }; txnNumber?: unknown; autocommit?: boolean };

const system = new AsyncLocalStorage<true>();

/** Runs code of the system beside that of a test, so that its commands are judged. */
export function asSystem<Result>(work: () => Result): Result {
  return system.run(true, work);
}

/**
 * Watches the commands of a client whose connections have `monitorCommands`.
 * @param isJudged says whether the command that begins now is one of the system.
 * @param complain takes what is wrong with a command, once for each.
 */
export function watchCommands(
  client: mongo.MongoClient,
  complain: (text: string) => void,
  isJudged: () => boolean = () => system.getStore() === true,
): void {
  const known = new Set<string>();
  const accountsOf = new Map<string, Set<string>>();
  const once = (text: string) => {
    if (known.has(text)) return;
    known.add(text);
    complain(text);
  };
  client.on('commandStarted', ({ command: sent }) => {
    if (!isJudged()) return;
    const command = sent as Command;
    if ('commitTransaction' in command || 'abortTransaction' in command) {
      accountsOf.delete(transactionOf(command) ?? '');
      return;
    }
    for (const ask of asksOrComplaint(command, once)) {
      if (ask.shards === 'refused') once(`a sharded cluster refuses ${nameOf(ask)}`);
      if (ask.shards === 'all' && !isPlanned(ask)) once(`${nameOf(ask)} asks all shards: add a row or the account`);
      const transaction = transactionOf(command);
      if (transaction === undefined || ask.shards === 'unsharded') continue;
      const accounts = accountsOf.get(transaction) ?? new Set();
      for (const account of ask.accounts) accounts.add(account);
      accountsOf.set(transaction, accounts);
      if (ask.shards === 'all' || accounts.size > 1) once(`a transaction with ${nameOf(ask)} has not one account`);
    }
  });
}

function asksOrComplaint(command: Command, complain: (text: string) => void): Ask[] {
  try {
    return asksOf(command);
  } catch (error) {
    complain((error as Error).message);
    return [];
  }
}

function transactionOf({ lsid, txnNumber, autocommit }: Command): string | undefined {
  return lsid && autocommit === false ? `${String(lsid.id)} ${String(txnNumber)}` : undefined;
}

function isPlanned({ collection, command, fields }: Ask): boolean {
  const kind = READS.has(command) ? 'reads' : 'changes of many';
  return COMMANDS_TO_ALL_SHARDS.some(
    (row) =>
      row.collections.includes(collection) &&
      row.kind === kind &&
      (kind === 'reads' || command === 'updateMany') &&
      fields.every((one) => row.fields.includes(one)),
  );
}

const READS = new Set(['find', 'count', 'distinct', 'aggregate']);

const nameOf = ({ command, collection, fields }: Ask) =>
  `${command} of ${collection} by ${fields.join(', ') || 'nothing'}`;
