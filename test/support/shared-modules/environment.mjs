// Jest's environment for test files that share the modules of their worker: its globals are those of the process.
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** Restores after each file what it may have left changed in the process. */
export default class SharedEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  #globals;
  #before = { env: { ...process.env }, console: globalThis.console, exit: process.exit };

  constructor({ projectConfig }) {
    this.#globals = projectConfig.globals;
    Object.assign(globalThis, this.#globals);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  getVmContext() {
    return null;
  }

  async setup() {
    // Jest's runner sets 100, and a stack is made for each `expect` and for each error that a service throws.
    Error.stackTraceLimit = 20;
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    for (const name of Object.keys(process.env)) if (!(name in this.#before.env)) delete process.env[name];
    Object.assign(process.env, this.#before.env);
    for (const name of Object.keys(this.#globals)) delete globalThis[name];
    globalThis.console = this.#before.console;
    process.exit = this.#before.exit;
  }
}
