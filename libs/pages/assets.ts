// The files of pages, such as the style sheet, under names that change with their content.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Request, type Response, Router } from 'express';
import { PageError } from './page-error.ts';

interface Asset {
  path: string;
  type: string;
  content: Buffer;
}

export interface Assets<Name extends string> {
  /** Returns the path of an asset for the browser. */
  pathOf(name: Name): string;
  /** Makes the route that serves the assets. */
  routes(): Router;
}

type SharedName = 'style.css' | 'icon.svg';

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' } as const;
const YEAR_SECONDS = 365 * 24 * 3600;
/** The assets that all pages share. */
const SHARED: Readonly<Record<SharedName, string>> = {
  'style.css': join(import.meta.dirname, 'assets', 'style.css'),
  'icon.svg': join(import.meta.dirname, 'assets', 'icon.svg'),
};

/**
 * Returns the shared assets and those of a service. They are read when the first page needs them.
 * @param own the files of the service by their names.
 */
export function assetsOf<Own extends string = never>(own: Readonly<Record<Own, string>>): Assets<SharedName | Own> {
  const files: Readonly<Record<string, string>> = { ...SHARED, ...own };
  let known: Map<string, Asset> | undefined;
  const assets = () => {
    known ??= new Map(Object.entries(files).map(([name, file]) => [name, readAsset(name, file)]));
    return known;
  };

  function sendAsset(request: Request, response: Response) {
    const asset = [...assets().values()].find(({ path }) => path === request.path);
    if (!asset) throw new PageError(404, 'No such file');
    response.set({ 'Content-Type': asset.type, 'Cache-Control': `public, max-age=${YEAR_SECONDS}, immutable` });
    response.send(asset.content);
  }

  return {
    pathOf(name) {
      const asset = assets().get(name);
      if (!asset) throw new Error(`there is no asset ${name}`);
      return asset.path;
    },
    routes: () => Router().get('/assets/:name', sendAsset),
  };
}

function readAsset(name: string, file: string): Asset {
  const content = readFileSync(file);
  const [stem, extension] = name.split('.') as [string, keyof typeof TYPES];
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { path: `/assets/${stem}-${hash}.${extension}`, type: TYPES[extension], content };
}
