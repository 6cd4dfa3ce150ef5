// The address judge against a second opinion that shares no code with it: plain integers and the IANA registries.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { judgeAddress, parseAllowList } from '#libs/outbound/public-address.ts';
import { ConfigError } from '#libs/service/config-error.ts';
import { runs } from '../../support/form.ts';

const nothing = parseAllowList('');
const judge = (address: string) => judgeAddress(address, nothing);

// IANA special-purpose registries (not globally reachable, or a relay to elsewhere) as [first address, prefix length].
const IPV4_SPECIAL: Array<[string, number]> = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
// Inside 2000::/3; all outside it is special.
const IPV6_SPECIAL: Array<[bigint, number]> = [
  [0x2001_0000n << 96n, 23],
  [0x2001_0db8n << 96n, 32],
  [0x2002n << 112n, 16],
  [0x2620_004f_8000n << 80n, 48],
  [0x3fff_0000n << 96n, 20],
];

const toNumber = (dotted: string) => dotted.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
const toDotted = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
const toColons = (value: bigint) =>
  Array.from({ length: 8 }, (_, group) => ((value >> BigInt(112 - 16 * group)) & 0xffffn).toString(16)).join(':');
const inside = (value: bigint, first: bigint, prefix: number, width: number) =>
  value >> BigInt(width - prefix) === first >> BigInt(width - prefix);

const isPublic4 = (value: bigint) =>
  !IPV4_SPECIAL.some(([first, prefix]) => inside(value, toNumber(first), prefix, 32));
const isPublic6 = (value: bigint) =>
  value >> 32n === 0xffffn
    ? isPublic4(value & 0xffff_ffffn)
    : value >> 125n === 1n && !IPV6_SPECIAL.some(([first, prefix]) => inside(value, first, prefix, 128));

const any4 = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });
const any6 = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
// Uniform integers would hardly ever fall into a /24: half of the cases start from a special block's edge or inside.
const near4 = fc
  .tuple(fc.constantFrom(...IPV4_SPECIAL), fc.bigInt({ min: -2n, max: 2n ** 32n }))
  .map(([[first, prefix], step]) => {
    const size = 1n << BigInt(32 - prefix);
    return BigInt.asUintN(32, toNumber(first) + (step % (size + 2n)));
  });
const near6 = fc
  .tuple(
    fc.constantFrom(...IPV6_SPECIAL, [0n, 96] as [bigint, number], [0xffffn << 32n, 96] as [bigint, number]),
    fc.bigInt({ min: -2n, max: 2n ** 128n }),
  )
  .map(([[first, prefix], step]) => {
    const size = 1n << BigInt(128 - prefix);
    return BigInt.asUintN(128, first + (step % (size + 2n)));
  });

test('when any IPv4 address is judged, then the verdict is that of the registry', () => {
  fc.assert(
    fc.property(fc.oneof(any4, near4), (value) => {
      expect([toDotted(value), judge(toDotted(value))]).toEqual([
        toDotted(value),
        isPublic4(value) ? 'public' : 'refused',
      ]);
    }),
    runs(5_000),
  );
});

test('when any IPv6 address is judged, then the verdict is that of the registry', () => {
  const public6 = fc.bigInt({ min: 0x2000n << 112n, max: (0x4000n << 112n) - 1n });
  fc.assert(
    fc.property(fc.oneof(any6, near6, public6), (value) => {
      expect([toColons(value), judge(toColons(value))]).toEqual([
        toColons(value),
        isPublic6(value) ? 'public' : 'refused',
      ]);
    }),
    runs(5_000),
  );
});

test('when an IPv4 address is wrapped as IPv4-mapped, in either spelling, then it is judged like itself', () => {
  fc.assert(
    fc.property(fc.oneof(any4, near4), (value) => {
      const alone = judge(toDotted(value));
      expect(judge(`::ffff:${toDotted(value)}`)).toBe(alone);
      expect(judge(`::FFFF:${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`)).toBe(alone);
    }),
    runs(2_000),
  );
});

test('when an IPv4 address hides in NAT64, 6to4, Teredo, SIIT or a compatible address, then it is refused, even a public one', () => {
  fc.assert(
    fc.property(any4, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value, rest) => {
      for (const wrapped of [
        (0x0064_ff9bn << 96n) | value,
        (0x0064_ff9b_0001n << 80n) | value,
        (0x2002n << 112n) | (value << 80n) | rest,
        (0x2001_0000n << 96n) | (value << 64n) | rest,
        (0xffffn << 48n) | value,
        value,
      ])
        expect([toColons(wrapped), judge(toColons(wrapped))]).toEqual([toColons(wrapped), 'refused']);
    }),
    runs(1_000),
  );
});

test.each([
  '169.254.169.254',
  '169.254.170.2',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fe80::a9fe:a9fe',
  'fe80::1%lo',
  'fec0::1',
  '::',
  '::1',
  '5f00::1',
  '4000::1',
])('when %s is judged, a metadata service or an address of the machine, then it is refused', (address) => {
  expect(judge(address)).toBe('refused');
});

test.each([
  '100.63.255.254',
  '100.128.0.1',
  '172.15.255.254',
  '172.32.0.1',
  '11.0.0.1',
  '9.255.255.255',
  '192.88.100.1',
  '168.63.129.17',
  '168.63.129.15',
  '192.0.1.1',
  '223.255.255.255',
  '2001:200::1',
  '2003::1',
  '2a00::1',
  '3fff:1000::1',
])('when %s is judged, just outside a special block, then it is public', (address) => {
  expect(judge(address)).toBe('public');
});

test.each(['0x7f.1', '127.1', '0177.0.0.1', '012.1.2.3', '2130706433', 'localhost', '', '1.2.3.4.', '[::1]'])(
  'when %p is judged, which is not the plain form of an address, then it is refused',
  (text) => {
    expect(judge(text)).toBe('refused');
  },
);

test('when the operator allows blocks of both kinds, then just their addresses are allowed', () => {
  const list = parseAllowList('127.0.0.0/8, ::1 ,fd00:1::/64,');
  expect(judgeAddress('127.9.9.9', list)).toBe('allowed');
  expect(judgeAddress('::ffff:127.0.0.1', list)).toBe('allowed');
  expect(judgeAddress('::1', list)).toBe('allowed');
  expect(judgeAddress('fd00:1::5', list)).toBe('allowed');
  expect(judgeAddress('fd00:2::5', list)).toBe('refused');
  expect(judgeAddress('10.0.0.1', list)).toBe('refused');
  expect(judgeAddress('64:ff9b::7f00:1', list)).toBe('refused');
  expect(judgeAddress('8.8.8.8', list)).toBe('public');
});

test('when the allow list holds what is not a CIDR, then every wrong entry is named', () => {
  const read = () => parseAllowList('10.0.0.0/8,localhost,10.0.0.0/33,010.0.0.0/8,::/129,1.2.3.4/x');
  expect(read).toThrow(ConfigError);
  for (const wrong of ['localhost', '10.0.0.0/33', '010.0.0.0/8', '::/129', '1.2.3.4/x']) expect(read).toThrow(wrong);
  expect(read).not.toThrow(/10\.0\.0\.0\/8[ ,]which/);
});
