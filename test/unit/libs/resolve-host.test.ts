// Resolving against a name server of the test's own, with real packets.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeResolve } from '#libs/outbound/resolve-host.ts';

const RECORDS: Record<string, string[]> = {
  'both.test': ['93.184.216.34', '10.0.0.5', '2a00::1'],
  'four.test': ['93.184.216.34'],
  'six.test': ['2a00::1'],
  'mute.test': ['93.184.216.34'],
};
const NXDOMAIN = 3;
const SERVFAIL = 2;

let server: Socket;
let asked: string[] = [];
let resolve: ReturnType<typeof makeResolve>;

beforeAll(async () => {
  server = createSocket('udp4', (packet, from) => {
    const { name, isIPv6, end } = readQuestion(packet);
    asked.push(`${name} ${isIPv6 ? 'AAAA' : 'A'}`);
    if (name.startsWith('silent') || (name.startsWith('mute') && isIPv6)) return;
    const code = name.startsWith('broken') ? SERVFAIL : name in RECORDS ? 0 : NXDOMAIN;
    const addresses = (RECORDS[name] ?? []).filter((address) => isIPv4(address) !== isIPv6);
    server.send(makeAnswer(packet, end, code, addresses), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const isLocal = (host: string) => host === 'localhost';
  resolve = makeResolve({ isLocal, servers: [`127.0.0.1:${server.address().port}`] });
});
afterAll(() => {
  server.close();
});

test('when a name has addresses of both kinds, then all of them are found, private ones too: the resolver judges none', async () => {
  expect((await resolve('both.test')).toSorted()).toEqual(['10.0.0.5', '2a00::1', '93.184.216.34']);
});

test('when a name has addresses of one kind only, then they are found', async () => {
  expect(await resolve('four.test')).toEqual(['93.184.216.34']);
  expect(await resolve('six.test')).toEqual(['2a00::1']);
});

test('when no server responds to the query for the other kind, then the found addresses are used before it is sent again', async () => {
  asked = [];
  expect(await resolve('mute.test')).toEqual(['93.184.216.34']);
  expect(asked.toSorted()).toEqual(['mute.test A', 'mute.test AAAA']);
});

test('when no server knows the name, and the hosts file does not either, then it is an error', async () => {
  await expect(resolve('unknown.test')).rejects.toThrow('unknown.test');
});

test('when the server fails, then it is an error and no other server is asked', async () => {
  await expect(resolve('broken.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
});

test('when a name is local, then no server is asked', async () => {
  asked = [];
  const addresses = await resolve('localhost');
  expect(addresses.every((address) => address === '127.0.0.1' || address === '::1')).toBe(true);
  expect(asked).toEqual([]);
});

test('when many names never get a response, then each ends by itself and others are found meanwhile', async () => {
  const ended: string[] = [];
  const silent = Array.from({ length: 20 }, (_, index) =>
    resolve(`silent-${index}.test`).catch((error: NodeJS.ErrnoException) => ended.push(String(error.code))),
  );
  expect(await resolve('four.test')).toEqual(['93.184.216.34']);
  expect(await resolve('localhost')).not.toEqual([]);
  expect(ended).toEqual([]);
  await Promise.all(silent);
  expect(ended).toEqual(Array(20).fill('ETIMEOUT'));
});

/** RFC 1035, 4.1.2: labels, then type and class. */
function readQuestion(packet: Buffer): { name: string; isIPv6: boolean; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), isIPv6: packet.readUInt16BE(at + 1) === 28, end: at + 5 };
}

function makeAnswer(query: Buffer, end: number, code: number, addresses: string[]): Buffer {
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : bytesOf6(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0); // The name is that of the question.
    record.writeUInt16BE(isIPv4(address) ? 1 : 28, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, query.subarray(12, end), ...records]);
}

function bytesOf6(address: string): Buffer {
  const [start = '', rest = ''] = address.split('::');
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(Number.parseInt(start, 16), 0);
  bytes.writeUInt16BE(Number.parseInt(rest, 16), 14);
  return bytes;
}
