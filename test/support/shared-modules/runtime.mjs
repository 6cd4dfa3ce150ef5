// Jest's runtime for test files that share the modules of their worker: Node.js itself imports them, once for all files.
import { createRequire, enableCompileCache, flushCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { compiledFolder } from '../../../deploy/backends/cache-folder.ts';

const require = createRequire(import.meta.url);
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');
const GLOBALS_URL = import.meta.resolve('./globals.mjs');

let isPrepared = false;

/** The package @jest/globals throws an error outside of jest's own module system. */
function prepare() {
  if (isPrepared) return;
  isPrepared = true;
  enableCompileCache(compiledFolder(process.env));
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === '@jest/globals' ? { url: GLOBALS_URL, shortCircuit: true } : next(specifier, context),
  });
}

class SharedRuntime {
  #environment;

  constructor(_config, environment) {
    this.#environment = environment;
  }

  /** Jest's runner is loaded anew for each file: it keeps the tests of a file in its module. */
  requireInternalModule(path) {
    delete globalThis[EVENT_HANDLERS];
    delete require.cache[path];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    prepare();
    const { moduleMocker, fakeTimersModern: timers } = this.#environment;
    const jest = {
      fn: moduleMocker.fn.bind(moduleMocker),
      spyOn: moduleMocker.spyOn.bind(moduleMocker),
      restoreAllMocks: () => moduleMocker.restoreAllMocks(),
      useFakeTimers: (options) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      setSystemTime: (now) => timers.setSystemTime(now),
      advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
      getTimerCount: () => timers.getTimerCount(),
    };
    globalThis[Symbol.for('jest-globals')] = { ...globals, jest };
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(pathToFileURL(path).href);
  }

  enterTestCode() {}
  leaveTestCode() {}

  getSourceMaps() {
    return new Map();
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  teardown() {
    // A worker that writes all of it when it ends takes longer than jest waits.
    flushCompileCache();
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (symbol.description === 'JEST_STATE_SYMBOL') delete globalThis[symbol];
  }
}

// Jest requires this file, and a module of this format is its default export only by this name.
export { SharedRuntime as 'module.exports' };
