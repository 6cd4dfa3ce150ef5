// Sends the logo of the issuer, which a renderer fetched and re-encoded. The browser asks no other host for it.
import type { Response } from 'express';
import { isWebUrl } from '#libs/outbound/url-form.ts';
import { issuerOf, noSuchLink, type Visit } from './visit.ts';

/** The time for which a browser keeps a logo. */
const KEPT_SECONDS = 3_600;

/** Returns the address of a logo that the page has to link. Undefined for one in the record itself, and of an expired link. */
export function logoAddress(visit: Visit): string | undefined {
  const { logo_url: url } = issuerOf(visit);
  return url && isWebUrl(url) && !visit.hasEnded ? url : undefined;
}

/** Sends the logo, and no page. @throws PageError 404 when there is none to show. */
export async function sendLogo(visit: Visit, response: Response): Promise<undefined> {
  const url = logoAddress(visit);
  const logo = url && (await visit.parts.loadLogo({ accountId: visit.accountId, url }));
  if (!logo) throw noSuchLink();
  response.set({ 'Content-Type': 'image/png', 'Cache-Control': `private, max-age=${KEPT_SECONDS}` }).send(logo);
  return undefined;
}
