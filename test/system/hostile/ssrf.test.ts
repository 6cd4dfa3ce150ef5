// Hundreds of attempts to make the system call internal addresses: none succeeds, with any single safeguard alone. With TEST_FULL=1 each
// safeguard meets all of them, as in `npm run hostile`, else another third.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isFull } from '../../support/form.ts';
import { attackOn, findGround } from '../../support/ssrf/ground.ts';
import type { LayerReport } from '../../support/ssrf/report.ts';

const ground = await findGround();
const hasNetwork = ground.wrapper.length > 0;
const LIMIT_MS = 600_000;

if (!hasNetwork) {
  process.stderr.write(
    `\n${'!'.repeat(100)}\n${ground.description}\nAttacks by name, by IPv6 and on addresses other than 127.0.0.1 are NOT tried, nor is the empty network.\n` +
      `HOSTILE_GROUND=required makes this a failure.\n${'!'.repeat(100)}\n\n`,
  );
}

const reports: LayerReport[] = [];
beforeAll(async () => {
  const form = isFull ? [] : ['--sample'];
  const args = ['--folder', ground.folder, ...(hasNetwork ? ['--whole-network'] : []), ...form];
  await attackOn(ground, args, (line) => reports.push(line as LayerReport));
}, LIMIT_MS);
afterAll(() => ground.remove());

const of = (layer: string) => {
  const found = reports.filter((report) => report.layer === layer);
  expect(found).not.toEqual([]);
  return found;
};
const outcomeOf = ({ layer, vector, hits, queries, leaks, surprises }: LayerReport) => ({
  layer,
  vector,
  hits,
  queries,
  leaks,
  surprises,
});
const nothing = (layer: string) => ({
  layer,
  vector: expect.any(String),
  hits: [],
  queries: [],
  leaks: [],
  surprises: [],
});
/** DNS queries, and calls of addresses other than 127.0.0.1, are only visible in a network of our own. */
const withNetwork = hasNetwork ? test : test.skip;

const whenRequired = process.env['HOSTILE_GROUND'] === 'required' ? test : test.skip;
whenRequired('when HOSTILE_GROUND is required, then the machine provides a network namespace', () => {
  expect(ground.description).toMatch(/^a network namespace/);
});

test('when there is no safeguard at all, then the canaries are called, so attacks and canaries work', () => {
  const [report] = of('no wall at all');
  const heard = new Set(report?.hits.flatMap((hit) => /\/(e\d+-\d+)\//.exec(hit)?.[1] ?? []));

  // Some sixty on a calm machine; a busy one ends pages before they have called everywhere.
  expect(heard.size).toBeGreaterThan(30);
});

withNetwork('when there is no safeguard at all, then all kinds of addresses are called, and names are resolved', () => {
  const [report] = of('no wall at all');
  for (const address of ['127.0.0.1:80', '169.254.169.254:80', '10.0.0.5:80', '::1:9999', 'fd00:ec2::254:80']) {
    expect(report?.hits.some((hit) => hit.startsWith(address))).toBe(true);
  }
  expect(report?.queries).toContain('localtest.me A');
});

describe('Chromium with a single safeguard', () => {
  withNetwork('when it is the empty network, then no canary is called and no name is resolved', () => {
    expect(of('only the empty network').map(outcomeOf)).toEqual([nothing('only the empty network')]);
  });

  test('when it is the closed proxy and the resolver that resolves nothing, then no canary is called and no name is resolved', () => {
    expect(of('only the closed proxy').map(outcomeOf)).toEqual([nothing('only the closed proxy')]);
  });

  test("when it is the page's own policy, then no canary is called and no name is resolved", () => {
    const layer = "only the page's own policy";
    expect(of(layer).map(outcomeOf)).toEqual([nothing(layer)]);
  });
});

test('when the whole system is attacked through images, texts, registrations and deliveries, then no canary is called', () => {
  const found = of('the whole system');

  expect(found.map(outcomeOf)).toEqual(found.map(() => nothing('the whole system')));
  expect(found.reduce((sum, { attacks }) => sum + attacks, 0)).toBeGreaterThan(900);
});

test('when the browser of the whole system shares our network, then no document makes it call a canary', () => {
  const layer = 'the whole system, its browser in our network';
  const found = of(layer);

  expect(found.map(outcomeOf)).toEqual(found.map(() => nothing(layer)));
});

withNetwork(
  'when an address is public, then it is called, and when it is rejected, then the response does not say why',
  () => {
    expect(of('control').flatMap(({ surprises }) => surprises)).toEqual([]);
  },
);
