// The style sheet and the one script of the dashboard, under names that change with their content.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Request, type Response, Router } from 'express';
import { DashboardError } from './dashboard-error.ts';

interface Asset {
  path: string;
  type: string;
  content: Buffer;
}

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' } as const;
const YEAR_SECONDS = 365 * 24 * 3600;

let known: Map<string, Asset> | undefined;

/** Returns the path of an asset for the browser. */
export function assetPath(name: 'style.css' | 'refresh.js' | 'icon.svg'): string {
  return assetNamed(name).path;
}

export function assetRoutes(): Router {
  return Router().get('/assets/:name', sendAsset);
}

function sendAsset(request: Request, response: Response) {
  const asset = [...assets().values()].find(({ path }) => path === request.path);
  if (!asset) throw new DashboardError(404, 'No such file');
  response.set({ 'Content-Type': asset.type, 'Cache-Control': `public, max-age=${YEAR_SECONDS}, immutable` });
  response.send(asset.content);
}

function assetNamed(name: string): Asset {
  const asset = assets().get(name);
  if (!asset) throw new Error(`there is no asset ${name}`);
  return asset;
}

function assets(): Map<string, Asset> {
  known ??= new Map(['style.css', 'refresh.js', 'icon.svg'].map((name) => [name, readAsset(name)]));
  return known;
}

function readAsset(name: string): Asset {
  const content = readFileSync(join(import.meta.dirname, '..', 'assets', name));
  const [stem, extension] = name.split('.') as [string, keyof typeof TYPES];
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { path: `/assets/${stem}-${hash}.${extension}`, type: TYPES[extension], content };
}
