// npm run docs: writes the files that are made from others.
import { writeFileSync } from 'node:fs';
import { ALERTS, alertsManifest } from './alerts-manifest.ts';
import { configurationPage, PAGE } from './configuration-page.ts';
import { DECISIONS, decisionsPage } from './decisions-page.ts';
import { WEBHOOKS_PAGE, webhooksPage } from './delivery-states-section.ts';
import { ERRORS_PAGE, errorsPage } from './errors-section.ts';
import { MAIL_PAGE, mailPage } from './message-states-section.ts';

for (const [file, text] of [
  [PAGE, configurationPage()],
  [ALERTS, alertsManifest()],
  [WEBHOOKS_PAGE, webhooksPage()],
  [MAIL_PAGE, mailPage()],
  [ERRORS_PAGE, errorsPage()],
  [DECISIONS, decisionsPage()],
] as const) {
  writeFileSync(file, text);
  process.stdout.write(`${file}\n`);
}
