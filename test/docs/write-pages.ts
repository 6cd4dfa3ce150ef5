// npm run docs: writes the pages that are made from the sources.
import { writeFileSync } from 'node:fs';
import { configurationPage, PAGE } from './configuration-page.ts';

writeFileSync(PAGE, configurationPage());
process.stdout.write(`${PAGE}\n`);
