// Jest's environment for Node.js, in a context whose globals are looked up as quickly as anywhere.
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

const { createContext } = vm;

/**
 * Jest wraps the global object of a test file in a proxy, so that each `Math`, `Object` or `Buffer` in our code and in all libraries goes
 * through an interceptor: tests take a fifth more of a processor. Node.js has contexts without it, which jest does not offer.
 */
export default class PlainEnvironment extends TestEnvironment {
  constructor(config, context) {
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }
}
