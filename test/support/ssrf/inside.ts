// Runs on the ground: canaries, a lying name server, the system, and the attacks, layer by layer. Reports on standard output.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { startBackends } from '../backends.ts';
import { spawnService } from '../spawn-service.ts';
import { startSystem, type TestSystem } from '../system.ts';
import { attackBrowser, withoutNamespaces, withoutSwitches } from './browser.ts';
import { startCanaries } from './canaries.ts';
import { compareAnswers, proveGround, proveOpen } from './control.ts';
import { NAME_SERVER, readCertificate } from './ground.ts';
import { startNameServer } from './names.ts';
import { type Field, SECRET } from './report.ts';
import { attackDelivery, attackImages, attackMailServers, attackRegistration, attackTexts } from './system.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    full: { type: 'boolean' },
    sample: { type: 'boolean' },
    'whole-network': { type: 'boolean' },
    // To try one thing again: browser, system, open.
    only: { type: 'string' },
  },
});
const folder = values.folder ?? '';
const STARTS = 3;
const STILL_MS = 6_000;
const STILL_TRIES = 10;
const isWholeNetwork = values['whole-network'] === true;

// First of all: programs ask for the machine's own name when they start.
const names = isWholeNetwork ? await startNameServer(NAME_SERVER) : undefined;
// Nothing outside is reached from here: the stores are started here as well.
const { MONGODB_URI: _mongodb, REDIS_URL: _redis, ...env } = process.env;
const backends = await started(isWholeNetwork ? env : process.env);
process.env['TEST_MONGODB_URI'] = backends.mongodbUri;
process.env['TEST_REDIS_URL'] = backends.redisUrl;
process.env['TEST_CHROMIUM_PATH'] = backends.chromiumPath;

const png = await sharp({ create: { width: 90, height: 40, channels: 3, background: '#f00' } })
  .png()
  .toBuffer();
const tls = await readCertificate(folder);
const canaries = await startCanaries({ isWholeNetwork, png, ...(tls ? { tls } : {}) });
const secretFile = join(folder, 'passwd');
await writeFile(secretFile, `root:x:0:0:${SECRET}\n`, { mode: 0o644 });
const field: Field = {
  canaries,
  names,
  secretFile,
  folder,
  isFull: values.full === true,
  isSampled: values.sample === true,
  say: (report) => void process.stdout.write(`${JSON.stringify(report)}\n`),
};

const certificate = tls ? { NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') } : {};
const services = {
  ...certificate,
  OUTBOUND_ALLOW: '',
  CANARY_SECRET: SECRET,
  RATE_LIMIT_REQUESTS: '0',
  RATE_LIMIT_DOCUMENTS: '0',
  RATE_LIMIT_REFUSALS: '0',
  WEBHOOK_RETRY_SCALE: '0.001',
  LOG_LEVEL: 'warn',
};

const path = backends.chromiumPath;
const wants = (part: string) => values.only === undefined || values.only === part;
const walls = (namespace: boolean, switches: boolean, policy: boolean) => ({ namespace, switches, policy });

let system: TestSystem | undefined;
try {
  if (wants('browser')) {
    // Without any wall: what hits nothing here proves nothing elsewhere.
    await attackBrowser(field, 'no wall at all', path, walls(false, false, false));
    if (isWholeNetwork) await attackBrowser(field, 'only the empty network', path, walls(true, false, false));
    await attackBrowser(field, 'only the closed proxy', path, walls(false, true, false));
    await attackBrowser(field, "only the page's own policy", path, walls(false, false, true));
  }
  system = await startSystem({ env: services });
  if (wants('system')) {
    const whole = { system, layer: 'the whole system' };
    if (isWholeNetwork) {
      await proveGround(field, system);
      await compareAnswers(field, system);
    }
    await attackTexts(field, whole);
    await attackImages(field, whole);
    await attackRegistration(field, whole);
    await attackDelivery(field, whole);
    await attackMailServers(field, whole);
  }
  if (wants('open')) {
    // The same system with a browser that nothing keeps off the network but what the document is made of.
    await system.renderers[0]?.stop();
    // Nor does anything else ask for names by now.
    await system.webhooks.stop();
    await stillness();
    const open = {
      ...services,
      CHROMIUM_PATH: await withoutSwitches(folder, path),
      PATH: `${await withoutNamespaces(folder)}:${process.env['PATH']}`,
    };
    const renderer = await spawnService('renderer', system.workspace, open);
    const opened = { system, layer: 'the whole system, its browser in our network' };
    proveOpen(field, renderer.pid);
    await attackTexts(field, opened);
    if (field.isFull) await attackImages(field, opened);
    await renderer.stop();
  }
} finally {
  await system?.close();
  canaries.close();
  names?.close();
  await backends.stop();
}
process.exit();

/** A resolver without an answer retries for a while, even when no caller waits. */
async function stillness(): Promise<void> {
  for (let left = STILL_TRIES, before = -1; left > 0 && before !== (names?.asked.length ?? 0); left -= 1) {
    before = names?.asked.length ?? 0;
    await pause(STILL_MS);
  }
}

/** On a machine that is busy with everything at once a database may take longer to start than it is given. */
async function started(given: NodeJS.ProcessEnv) {
  for (let left = STARTS - 1; ; left -= 1) {
    try {
      return await startBackends(given);
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}
