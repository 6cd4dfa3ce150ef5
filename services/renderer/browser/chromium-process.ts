// One Chromium, started without access to the network and with a folder of its own, and ended with all its processes.
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import puppeteer, { type Browser, type CDPSession } from 'puppeteer-core';
import type { Isolation } from './isolation.ts';

const LAUNCH_LIMIT_MS = 20_000;
/** A healthy Chromium ends within 100 ms. After this time its processes are killed. */
const CLOSE_LIMIT_MS = 2_000;

export interface ChromiumOptions {
  /** The headless shell, or a whole Chromium. */
  path: string;
  isolation: Isolation;
  /** The folder of the profiles, which the caller makes and removes. */
  folder: string;
  fontsFile: string;
  /** Called with the first process of each Chromium, and awaited. */
  onLaunched?: (pid: number) => Promise<void>;
}

export interface Chromium {
  /** The first process, which leads the group of all the others. */
  pid: number;
  /** The session for commands to the browser as a whole. */
  control: CDPSession;
  /** Runs a function that sends several commands, and writes them to Chromium at once. */
  together<Sent>(send: () => Sent): Sent;
  isAlive(): boolean;
  /** Resolves when Chromium has ended, for whatever reason. */
  gone: Promise<void>;
  close(): Promise<void>;
}

let profiles = 0;

export async function launchChromium({
  path,
  isolation,
  folder,
  fontsFile,
  onLaunched,
}: ChromiumOptions): Promise<Chromium> {
  profiles += 1;
  const profile = join(folder, `profile-${process.pid}-${profiles}`);
  await mkdir(profile, { mode: 0o700 });
  if (isolation.owner !== undefined) await chown(profile, isolation.owner, isolation.owner);

  const [program = path, ...rest] = [...isolation.wrapper, path];
  let browser: Browser;
  try {
    browser = await puppeteer.launch({
      executablePath: program,
      args: [...rest, ...switches(profile, isolation)],
      ignoreDefaultArgs: true,
      pipe: true,
      // Nothing of this process's environment, which names Redis, reaches the browser.
      env: {
        PATH: '/usr/bin:/bin',
        HOME: profile,
        TMPDIR: profile,
        FONTCONFIG_FILE: fontsFile,
        LANG: 'C.UTF-8',
        TZ: 'UTC',
      },
      timeout: LAUNCH_LIMIT_MS,
      waitForInitialPage: false,
      defaultViewport: null,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  } catch (error) {
    await rm(profile, { recursive: true, force: true });
    throw error;
  }
  // A browser that is killed before it has read everything resets its pipes, and by then puppeteer does not listen to
  // them any more.
  for (const pipe of browser.process()?.stdio ?? []) pipe?.on('error', () => undefined);
  const pid = browser.process()?.pid;
  if (pid === undefined) throw new Error('Chromium has no process'); // This cannot happen, because the browser was launched here.
  const gone = new Promise<void>((resolve) => browser.once('disconnected', () => resolve()));
  void gone.then(() => endGroup(pid)).then(() => rm(profile, { recursive: true, force: true, maxRetries: 3 }));

  const control = await prepared().catch((error) => {
    // Otherwise nothing would end it.
    endGroup(pid);
    throw error;
  });
  const pipe = browser.process()?.stdio[3] as Writable; // Puppeteer writes to the third of the pipes that it opens.

  async function prepared(): Promise<CDPSession> {
    await onLaunched?.(pid as number);
    return browser.target().createCDPSession();
  }

  return {
    pid,
    control,
    together(send) {
      const { stackTraceLimit } = Error;
      pipe.cork();
      // Puppeteer makes an error with a stack for each command, which costs more than the rest of sending it.
      Error.stackTraceLimit = 0;
      try {
        return send();
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
        pipe.uncork();
      }
    },
    isAlive: () => browser.connected,
    gone,
    async close() {
      const limit = setTimeout(() => endGroup(pid), CLOSE_LIMIT_MS);
      await browser.close().catch(() => undefined); // It may have ended already.
      clearTimeout(limit);
      endGroup(pid);
      await rm(profile, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function switches(profile: string, isolation: Isolation): string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    ...(isolation.hasSandbox ? [] : ['--no-sandbox']),
    // Nothing may leave: names resolve to nothing, and everything else goes to a closed proxy, loopback included.
    '--proxy-server=http://127.0.0.1:9',
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-domain-reliability',
    '--disable-sync',
    '--dns-prefetch-disable',
    '--no-pings',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-file-system',
    // Chromium must leave nothing behind and ask nothing.
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--disable-default-apps',
    '--disable-extensions',
    '--password-store=basic',
    '--use-mock-keychain',
    '--mute-audio',
    // Pages in the background print as fast as the one in front.
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    '--disable-hang-monitor',
    '--disable-ipc-flooding-protection',
    // Containers give /dev/shm 64 MB, and a large document needs more.
    '--disable-dev-shm-usage',
    '--disable-gpu',
    // Otherwise a page gives no frame when asked for one, see warm-page.ts.
    '--run-all-compositor-stages-before-draw',
    '--hide-scrollbars',
    '--font-render-hinting=none',
    '--disable-features=Translate,MediaRouter,OptimizationHints,DialMediaRouteProvider,PaintHolding',
    '--generate-pdf-document-outline=false',
    'about:blank',
  ];
}

function endGroup(pid: number) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has no processes left.
  }
}
