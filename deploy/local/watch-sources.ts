// Watches source files for `npm run dev`, and names the services that must start again.
import { watch } from 'node:fs';
import { join, sep } from 'node:path';

export interface WatchedSources {
  close(): void;
}

/**
 * The time to wait for further changes. An editor saves a file in several steps, and a change of branch touches many
 * files.
 */
const SETTLE_MS = 200;

/**
 * Watches the sources.
 * @param root holds services/ and libs/.
 * @param onChange gets one changed file, and the folder of its service in services/. The folder is undefined when all
 * services read the file.
 */
export function watchSources(
  root: string,
  onChange: (service: string | undefined, file: string) => void,
): WatchedSources {
  const changed = new Map<string | undefined, string>();
  let timer: NodeJS.Timeout | undefined;

  function report() {
    const everything = changed.get(undefined);
    const found = everything === undefined ? [...changed] : [[undefined, everything] as const];
    changed.clear();
    for (const [service, file] of found) onChange(service, file);
  }

  const watchers = ['services', 'libs'].map((folder) =>
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (!name || isScratch(name)) return;
      changed.set(folder === 'libs' ? undefined : name.split(sep)[0], join(folder, name));
      clearTimeout(timer);
      timer = setTimeout(report, SETTLE_MS);
    }),
  );
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** True for files that editors write beside a file while it is open. */
function isScratch(name: string): boolean {
  return /(?:^|[\\/])(?:\.[^\\/]*|[^\\/]*~|4913)$/.test(name);
}
