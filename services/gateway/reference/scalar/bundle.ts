// Scalar's viewer of OpenAPI documents: one script, as its authors publish it in the npm package @scalar/api-reference. The package itself is
// no dependency: it would bring 280 packages of 310 MB that nothing here runs. `npm run reference-viewer` renews the copy.
import { readFileSync } from 'node:fs';
import { type Content, contentOfPacked } from '../content.ts';

interface Manifest {
  package: string;
  version: string;
  /** The checksum that npm keeps of the whole package. */
  integrity: string;
  /** SHA-256 of the script in hexadecimal. */
  sha256: string;
}

const fileOf = (name: string) => new URL(name, import.meta.url);

export const bundle: Manifest = JSON.parse(readFileSync(fileOf('manifest.json'), 'utf8'));

export const BUNDLE_PATH = `/docs/scalar-${bundle.version}.js`;

export function readBundle(): Content {
  return contentOfPacked(readFileSync(fileOf('standalone.js.gz')));
}
