// The files of the dashboard: the shared ones and its one script.
import { join } from 'node:path';
import { assetsOf } from '#libs/pages/assets.ts';

export const assets = assetsOf({ 'refresh.js': join(import.meta.dirname, '..', 'assets', 'refresh.js') });
