// `npm start`: everything Billhook needs, on this machine, until Ctrl-C.
import { join } from 'node:path';
import { runLocally } from './run.ts';

await runLocally({
  args: process.argv.slice(2),
  env: process.env,
  root: join(import.meta.dirname, '..', '..'),
});
