// A name server that lies: names that change their mind, lead inside by way of others, fail first, or never answer.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP, isIPv4, isIPv6 } from 'node:net';

/** Where a public host of the test lives; nothing else of what the names lead to may be called. */
export const PUBLIC = '93.184.216.34';

export interface NameServer {
  /** `name TYPE`, in the order of asking. */
  asked: string[];
  close(): void;
}

/** The answer to a name: addresses and aliases, a response code, or silence. */
type Answer = string[] | { code: number } | 'silence';

const SERVFAIL = 2;
const NXDOMAIN = 3;
const REFUSED = 5;
const TYPES: Record<number, string> = { 1: 'A', 28: 'AAAA' };

/** @param turn how often this name and type have been asked before. */
const NAMES: Record<string, (turn: number) => Answer> = {
  'public.hostile.example': () => [PUBLIC],
  'example.com': () => [PUBLIC],
  'rebind.hostile.example': (turn) => [turn === 0 ? PUBLIC : '127.0.0.1'],
  'rebind-fast.hostile.example': (turn) => [turn % 2 === 0 ? PUBLIC : '169.254.169.254'],
  'mixed.hostile.example': () => [PUBLIC, '10.0.0.5'],
  'mixed-reversed.hostile.example': () => ['10.0.0.5', PUBLIC],
  'public-and-inner-six.hostile.example': () => [PUBLIC, '::1'],
  'inner-six.hostile.example': () => ['fd00:ec2::254'],
  'mapped-six.hostile.example': () => ['::ffff:127.0.0.1'],
  'alias-of-localhost.hostile.example': () => ['localhost', '127.0.0.1', '::1'],
  'alias-of-metadata.hostile.example': () => ['metadata.google.internal', '169.254.169.254'],
  'alias-of-aliases.hostile.example': () => [...Array.from({ length: 20 }, (_none, i) => `n${i}.example`), '127.0.0.1'],
  'fails-first.hostile.example': (turn) => (turn === 0 ? { code: SERVFAIL } : ['10.0.0.5']),
  'silent.hostile.example': () => 'silence',
  'refused.hostile.example': () => ({ code: REFUSED }),
  'later.hostile.example': (turn) => [turn === 0 ? PUBLIC : '10.0.0.5'],
  'inner.hostile.example': () => ['10.0.0.5'],
  'closed.hostile.example': () => ['93.184.216.35'],
  'localtest.me': () => ['127.0.0.1', '::1'],
  'metadata.google.internal': () => ['169.254.169.254'],
  'kubernetes.default.svc': () => ['10.0.0.5'],
  redis: () => ['10.0.0.5'],
  'a.localhost': () => ['127.0.0.1'],
  'xn--localhost-3ya': () => ['127.0.0.1'],
};

/** Services that spell the address in the name; rbndr.us alternates between two of them. */
function answerTo(name: string, turn: number): Answer {
  const known = NAMES[name];
  if (known) return known(turn);
  const hex = /^([0-9a-f]{8})\.(?:([0-9a-f]{8})\.)?(?:nip\.io|rbndr\.us)$/.exec(name);
  const chosen = hex?.[2] && turn % 2 === 1 ? hex[2] : hex?.[1];
  if (chosen) return [Buffer.from(chosen, 'hex').join('.')];
  const spelt = /^(\d+[.-]\d+[.-]\d+[.-]\d+)\.nip\.io$/.exec(name)?.[1];
  return spelt ? [spelt.replaceAll('-', '.')] : { code: NXDOMAIN };
}

/** @param address to listen on, UDP port 53. */
export async function startNameServer(address: string): Promise<NameServer> {
  const asked: string[] = [];
  const turns = new Map<string, number>();
  const server = createSocket('udp4', (packet, from) => {
    const { name, type, end } = readQuestion(packet);
    const question = `${name} ${TYPES[type] ?? type}`;
    const turn = turns.get(question) ?? 0;
    turns.set(question, turn + 1);
    asked.push(question);
    const answer = answerTo(name, turn);
    if (answer !== 'silence') server.send(reply(packet, end, type, answer), from.port, from.address);
  });
  server.bind(53, address);
  await once(server, 'listening');
  return { asked, close: () => void server.close() };
}

/** RFC 1035, 4.1.2: labels, then type and class. */
function readQuestion(packet: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}

function reply(query: Buffer, end: number, type: number, answer: Exclude<Answer, 'silence'>): Buffer {
  const records = Array.isArray(answer) ? recordsOf(answer, type) : [];
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8180 | (Array.isArray(answer) ? 0 : answer.code), 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, query.subarray(12, end), ...records]);
}

/** Aliases first, each leading to the next, the addresses at the end of the chain; never kept: a lifetime of 0. */
function recordsOf(answer: string[], type: number): Buffer[] {
  const isWanted = type === 28 ? isIPv6 : isIPv4;
  let owner = Buffer.from([0xc0, 12]); // The name of the question.
  return answer.flatMap((value) => {
    if (isIP(value)) return type in TYPES && isWanted(value) ? [record(owner, type, addressBytes(value))] : [];
    const next = nameBytes(value);
    const alias = record(owner, 5, next);
    owner = next;
    return [alias];
  });
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10); // The lifetime stays 0.
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

const nameBytes = (name: string) =>
  Buffer.concat([
    ...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.alloc(1),
  ]);

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // The parser of URLs writes every spelling in groups of hex digits.
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const zeros = Array<string>(8 - groups(left).length - groups(right).length).fill('0');
  return Buffer.from(
    [...groups(left), ...zeros, ...groups(right)].flatMap((group) => [
      Number.parseInt(group, 16) >> 8,
      Number.parseInt(group, 16) & 255,
    ]),
  );
}
