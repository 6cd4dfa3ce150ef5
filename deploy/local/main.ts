// `npm start`: everything Billhook needs, on this machine, until Ctrl-C.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { compiledFolder } from '../backends/cache-folder.ts';

// Node compiles the imports below once: for the next start, and for the services of this one.
enableCompileCache(compiledFolder(process.env));
const { runLocally } = await import('./run.ts');

await runLocally({
  args: process.argv.slice(2),
  env: process.env,
  root: join(import.meta.dirname, '..', '..'),
});
