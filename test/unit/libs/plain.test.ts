// Lines that the fast check accepts must get the verdict of joi; with an unknown name, the same lines go to joi.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { shapeOf } from '#libs/jobs/printable-document.ts';
import { anInvoice } from '../../support/renderer/documents.ts';

const OPTIONS = { convert: false, abortEarly: false, stripUnknown: { objects: true } } as const;
const OF_RECORD = { locale: 'en', currency: 'EUR', subtotal: 1, taxAmount: 0 };

const edges = fc.constantFrom(
  ...['', ' ', 'x'.repeat(2_000), 'x'.repeat(2_001), '\ud800', 'a\u0000b', 'a\u007fb', '\t\n', '😀', 'Ä'],
  ...['0', '-0', '1.', '.5', '1.50', '-1.5', '+1', '1e3', '1'.repeat(12), '1'.repeat(13), `1.${'1'.repeat(11)}`, ' 1'],
  ...[0, -0, 1.5, -1, 1e12, 1e12 + 1, -1e12, 2 ** 53, 2 ** 53 - 1, 4e15, 0.1 + 0.2],
  ...[null, undefined, true, [], {}, ['1'], { length: 1 }],
);
const field = fc.oneof(edges, fc.string({ unit: 'binary' }), fc.double(), fc.integer(), fc.jsonValue());
const names = ['id', 'description', 'qty', 'rate', 'discount', 'amount'];
const line = fc.oneof(
  { weight: 8, arbitrary: fc.dictionary(fc.constantFrom(...names), field, { maxKeys: 4 }) },
  { weight: 1, arbitrary: field },
);

test.each([
  ['a caller', {}],
  ['a record', OF_RECORD],
])('when lines of %s go through the fast check, then their verdict is that of joi', (_whose, more) => {
  const judge = (lineItems: unknown[]) => {
    const document = { ...anInvoice(), ...more, lineItems };
    const { error, value } = shapeOf(document).validate(document, OPTIONS);
    const problems = error?.details.map(({ path, message, type }) => ({ path, message, type }));
    return { problems, lineItems: problems ? undefined : value?.lineItems };
  };
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
      const marked = lines.map((each) => (isLine(each) ? { ...each, unknown: 1 } : each));
      expect(judge(lines)).toEqual(judge(marked));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['as many as may be', Array.from({ length: 500 }, () => ({ description: 'Work' })), undefined],
  ['one too many', Array.from({ length: 501 }, () => ({ description: 'Work' })), ['lineItems', 'array.max']],
  ['a hole', [{}, ...new Array(1), {}], ['lineItems.1', 'array.sparse']],
  ['no list', { length: 0 }, ['lineItems', 'array.base']],
  ['none', undefined, ['lineItems', 'any.required']],
])('when the list of lines is %s, then it is judged as joi judges lists', (_what, lineItems, expected) => {
  const { error } = shapeOf({}).validate({ ...anInvoice(), lineItems }, OPTIONS);
  const problem = error?.details[0];
  expect(problem && [problem.path.join('.'), problem.type]).toEqual(expected);
});

function isLine(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
