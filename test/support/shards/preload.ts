// Loaded into a service before its own code: says which of its commands would ask all shards without being planned.
import mongoose from 'mongoose';
import { UNPLANNED } from './unplanned.ts';
import { watchCommands } from './watch-commands.ts';

const uri = process.env['MONGODB_URI'] ?? '';
if (uri && !uri.includes('monitorCommands')) {
  process.env['MONGODB_URI'] = `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`;
}
const watched = new WeakSet<object>();
mongoose.connection.on('connected', () => {
  const client = mongoose.connection.getClient();
  if (watched.has(client)) return;
  watched.add(client);
  watchCommands(
    client,
    (text) => void process.stderr.write(`${UNPLANNED}${text}\n`),
    () => true,
  );
});
