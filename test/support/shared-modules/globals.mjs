// Stands in for @jest/globals: each name leads to the file that runs, because a module that imports them stays for the next file.
const current = () => globalThis[Symbol.for('jest-globals')];

/** Forwards calls and properties to what the current file has under a name. */
function forwarded(name) {
  return new Proxy(() => undefined, {
    apply: (_target, _this, given) => current()[name](...given),
    get: (_target, property) => current()[name][property],
  });
}

export const afterAll = forwarded('afterAll');
export const afterEach = forwarded('afterEach');
export const beforeAll = forwarded('beforeAll');
export const beforeEach = forwarded('beforeEach');
export const describe = forwarded('describe');
export const expect = forwarded('expect');
export const it = forwarded('it');
export const jest = forwarded('jest');
export const test = forwarded('test');
