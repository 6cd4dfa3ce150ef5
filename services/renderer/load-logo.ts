// The load-logo job, which fetches and re-encodes the logo that a page of the portal shows.
import { agreedTime } from '#libs/clock.ts';
import type { LoadLogo } from '#libs/jobs/catalog.ts';
import { sendReply } from '#libs/jobs/replies.ts';
import type { JobHandler } from '#libs/jobs/worker.ts';
import type { Redis } from '#libs/redis/connection.ts';
import { resultWithin } from '#libs/with-timeout.ts';
import type { Images } from './images/fetch-image.ts';
import { logoGround } from './images/logo-ground.ts';

/** The ground on which logos of pages are drawn, see decode-image.ts. */
const PAGE_GROUND = '#ffffff';
/** A ground on which a light logo can be seen. */
const DARK_GROUND = '#000000';

interface LoadLogoParts {
  images: Images;
  /** The connection for replies. */
  redis: Redis;
  prefix: string;
}

/** Returns the handler. Its reply has no bytes when there is no logo that the page can show. */
export function loadLogoWith({ images, redis, prefix }: LoadLogoParts): JobHandler<LoadLogo> {
  return async ({ url, accountId, deadlineAt, replyTo }, { jobId, signal, log }) => {
    const leftMs = deadlineAt - agreedTime();
    if (leftMs <= 0) return;
    const wanted = { source: url, use: 'page-logo', accountId, log, requestId: jobId } as const;
    const logo = await resultWithin(leftMs, Promise.resolve(images.get(wanted, signal)));
    if (!logo) return;
    // A page shows the name instead of a white logo on its white ground.
    const isShown = 'dataUri' in logo && logoGround(logo, PAGE_GROUND, [DARK_GROUND]) === undefined;
    const bytes = isShown ? Buffer.from(logo.dataUri.slice(logo.dataUri.indexOf(',') + 1), 'base64') : Buffer.alloc(0);
    await sendReply(redis, { prefix, replyTo, id: jobId }, { bytes, warnings: [] });
  };
}
