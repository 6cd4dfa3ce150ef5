// Runs the process that decodes images, isolated like Chromium, and replaces it when it is stuck or dead.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import { canRead, type Isolation } from '../browser/isolation.ts';
import type { DecodedImage, DecodeRequest, DecodeResponse, ImageFault, ImageUse } from './decode-image.ts';

/** The time limit. Sixteen megapixels take about one second. */
const LIMIT_MS = 5_000;
/**
 * The images that are decoded at once. A renderer has one or two processors: with more, fast images would miss the
 * limit together with slow ones.
 */
const AT_ONCE = 2;
const HEAP_MEGABYTES = 128;
const PROGRAM = join(import.meta.dirname, 'decode-image.ts');

export interface ImageDecoder {
  /**
   * Decodes an image.
   * @param options.accountId images of one account wait for each other, not for those of other accounts.
   * @param options.signal ends the wait. An image that is still waiting is not decoded.
   * @returns a data URI, or the reason why there is none. Throws only `signal.reason`.
   */
  decode(
    bytes: Buffer,
    use: ImageUse,
    options: { accountId: string; signal: AbortSignal },
  ): Promise<DecodedImage | { fault: ImageFault }>;
  close(): void;
}

/** The result of the process. Undefined means that it died while it decoded this image or another one. */
type Result = DecodedImage | { fault: ImageFault } | undefined;

/** Opens the decoder. @param fontsFile for text in SVG. */
export async function openImageDecoder(isolation: Isolation, fontsFile?: string): Promise<ImageDecoder> {
  const wrapper = (await canRead([PROGRAM, process.execPath], isolation)) ? isolation.wrapper : [];
  const waiters = new Map<number, (result: Result) => void>();
  const limit = pLimit(AT_ONCE);
  /**
   * Limits per account in front of the common limit: no account has more images in that queue than are decoded at once.
   * Removed when idle.
   */
  const ofAccounts = new Map<string, LimitFunction>();
  let lastId = 0;
  let child: ChildProcess | undefined;

  // The process starts with the first image, because most documents have none, or a cached one.
  function running(): ChildProcess {
    if (child) return child;
    const [program = process.execPath, ...rest] = [...wrapper, process.execPath];
    const started = spawn(program, [...rest, `--max-old-space-size=${HEAP_MEGABYTES}`, PROGRAM], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      env: { PATH: '/usr/bin:/bin', ...(fontsFile ? { FONTCONFIG_FILE: fontsFile } : {}) },
    });
    started.on('message', ({ id, ...result }: DecodeResponse) => settle(id, result));
    started.once('error', () => abandon(started));
    started.once('exit', () => abandon(started));
    // Neither the process nor its channel keeps a closing renderer alive.
    started.unref();
    started.channel?.unref();
    child = started;
    return started;
  }

  function settle(id: number, result: Result) {
    waiters.get(id)?.(result);
    waiters.delete(id);
  }

  function abandon(dead: ChildProcess) {
    if (child !== dead) return;
    child = undefined;
    dead.kill('SIGKILL');
    for (const id of waiters.keys()) settle(id, undefined);
  }

  function send(bytes: Buffer, use: ImageUse): Promise<Result> {
    return new Promise((resolve) => {
      const current = running();
      lastId += 1;
      const timer = setTimeout(() => abandon(current), LIMIT_MS);
      waiters.set(lastId, (result) => {
        clearTimeout(timer);
        resolve(result);
      });
      current.send({ id: lastId, bytes, use } satisfies DecodeRequest, (error) => error && abandon(current));
    });
  }

  /** Waits for a slot of the account without a reference to the image, so that an abandoned image takes no memory. */
  async function acquireSlot(accountId: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const ofAccount = ofAccounts.get(accountId) ?? pLimit(AT_ONCE);
    ofAccounts.set(accountId, ofAccount);
    const slot = Promise.withResolvers<() => void>();
    const onAbort = () => slot.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const occupy = () => (signal.aborted ? undefined : new Promise<void>((release) => slot.resolve(release)));
    void ofAccount(() => limit(occupy)).then(() => {
      // The account is idle, and its limit is not needed.
      if (ofAccount.activeCount + ofAccount.pendingCount === 0) ofAccounts.delete(accountId);
    });
    try {
      return await slot.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    async decode(bytes, use, { accountId, signal }) {
      const release = await acquireSlot(accountId, signal);
      try {
        // The second attempt is for an image that failed because of another one. An image that fails twice is rejected.
        return (await send(bytes, use)) ?? (await send(bytes, use)) ?? { fault: 'not an image' };
      } finally {
        release();
      }
    },
    close() {
      child?.kill('SIGKILL');
    },
  };
}
