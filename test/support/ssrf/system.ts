// The whole system under attack, through its public API only: images, texts and webhook endpoints.
import { setTimeout as pause } from 'node:timers/promises';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { makeSecret } from '#libs/models/webhooks/endpoint-secrets.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { openMailDialler } from '#libs/outbound/dial-mail-server.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { eventually } from '../eventually.ts';
import { callerOf } from '../gateway.ts';
import { pdfOf } from '../pdf-body.ts';
import type { TestSystem } from '../system.ts';
import { hostileFields, hostileMarkup, STRICT_FIELDS, TEXT_FIELDS } from './markup.ts';
import { readWords } from './read.ts';
import { type Attack, type Field, type LayerReport, LEAK, named, tryAll } from './report.ts';
import { hostileUrls } from './urls.ts';

const PATH = '/api/tools/generate-pdf';
const AT_ONCE = 6;
/** The API refuses these; beside others they would have the others refused, too. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to refuse.
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
const FIELD_MAX = 2_000;
const TOGETHER_MAX = 1_900;
/** Any text may stand for a currency, if it is as short as one. */
const SYMBOL_MAX = 12;

const quote = pdfOf('Quote');

/** A busy machine may refuse a document for now; that says nothing about the attack. */
export async function print({ call }: TestSystem, body: object) {
  for (let left = 10; ; left -= 1) {
    const reply = await call('POST', PATH, { body });
    if (left === 0 || ![503, 504].includes(reply.status)) return reply;
    await pause(2_000);
  }
}

interface Target {
  system: TestSystem;
  layer: string;
}

export async function attackImages(field: Field, { system, layer }: Target): Promise<void> {
  const attacks = named(hostileUrls, ({ url }) => url, field);
  const attempt = (fields: string[]) => async (attack: (typeof attacks)[number], report: LayerReport) => {
    const body = { ...quote, ...Object.fromEntries(fields.map((name) => [name, attack.text])) };
    const { status, body: answer, headers } = await print(system, body);
    const warned = headers.get('X-Document-Warnings') ?? '';
    const hasImage = status === 200 && (answer as Buffer).includes('/Subtype /Image');
    const isKnown = fields.every((name) =>
      new RegExp(`${name}: (refused address|unreachable|not an image|too large)`).test(warned),
    );
    if (status === 200 && !hasImage && (isKnown || attack.text === '')) return;
    // Hits, names that were asked for and leaks are looked for after all of them.
    if (status === 200 && hasImage && attack.item.isDrawing) return;
    if (status !== 400 || !fields.every((name) => name in answer.details)) {
      report.surprises.push(`${attack.id} ${attack.text.slice(0, 80)}: ${status} ${warned} image=${hasImage}`);
    }
  };
  const vectors = field.isFull ? [['logoUrl'], ['bannerUrl']] : [['logoUrl', 'bannerUrl']];
  for (const fields of vectors) {
    const about = { layer, vector: fields.join(' and '), atOnce: AT_ONCE };
    field.say(await tryAll(field, about, attacks, attempt(fields), ({ id }) => id));
  }
}

export async function attackTexts(field: Field, { system, layer }: Target): Promise<void> {
  const attacks = named(hostileMarkup, ({ markup }) => markup, field);
  const groups = field.isFull ? attacks : together(attacks);
  const isDocument = async (attack: Attack, body: object, report: LayerReport) => {
    const { status, body: answer } = await print(system, body);
    const mayBeRefused = UNPRINTABLE.test(attack.text) || attack.text.length > FIELD_MAX;
    if (status === 400 && mayBeRefused) return;
    if (status !== 200) return void report.surprises.push(`${attack.id}: ${status}`);
    const { text, links } = await readWords(answer as Buffer);
    // A text that was sent may be printed as text. Only the content that it points to may not.
    const leak = LEAK.exec(text)?.[0];
    if (leak && !attack.text.includes(leak)) report.leaks.push(`${attack.id}: ${leak}`);
    const odd = links.filter((link) => !/^(https?|mailto):/.test(link));
    report.leaks.push(...odd.map((link) => `${attack.id}: a link to ${link}`));
  };
  const refused = async (attack: Attack, body: object, report: LayerReport) => {
    const { status } = await print(system, body);
    if (status !== 400) report.surprises.push(`${attack.id}: ${status} for ${attack.text.slice(0, 60)}`);
  };
  const browserAsks = quiet(field);

  const markdown = await tryAll(
    field,
    { layer, vector: 'bodyMarkdown', atOnce: AT_ONCE },
    groups,
    async (attack, report) => {
      await isDocument(attack, { ...quote, bodyMarkdown: attack.text }, report);
    },
    ({ id }) => id,
  );
  field.say({ ...markdown, queries: browserAsks() });

  const fields = field.isFull ? TEXT_FIELDS.map((name) => [name]) : [[...TEXT_FIELDS]];
  for (const names of fields) {
    const vector = names.length === 1 ? `text ${names[0]}` : `${names.length} texts`;
    const report = await tryAll(
      field,
      { layer, vector, atOnce: AT_ONCE },
      groups,
      async (attack, into) => {
        await isDocument(attack, withFields(names, attack.text), into);
      },
      ({ id }) => id,
    );
    field.say({ ...report, queries: browserAsks() });
  }

  const strict = STRICT_FIELDS.flatMap((name) =>
    (field.isFull ? attacks : attacks.slice(0, 12))
      .filter(({ text }) => name !== 'currencySymbol' || text.length > SYMBOL_MAX)
      .map((attack) => ({ ...attack, name })),
  );
  field.say(
    await tryAll(
      field,
      { layer, vector: 'fields that are no text', atOnce: AT_ONCE },
      strict,
      async (attack, report) => {
        await refused(attack, withFields([attack.name], attack.text), report);
      },
      ({ id }) => id,
    ),
  );

  const bodies = named(hostileFields, ({ fields: given }) => JSON.stringify(given), field);
  field.say(
    await tryAll(
      field,
      { layer, vector: 'keys and values of the style', atOnce: AT_ONCE },
      bodies,
      async (attack, report) => {
        const body = { ...quote, ...(JSON.parse(attack.text) as object) };
        const isRefused = attack.item.entry === 140 ? !('currencySymbol' in body) : attack.text.includes('__proto__');
        if (isRefused) await refused(attack, body, report);
        else await isDocument(attack, body, report);
      },
      ({ id }) => id,
    ),
  );
}

/** Requests since the last check that only a browser can have made: texts give the services no name to resolve. */
function quiet({ names }: Field) {
  let seen = names?.asked.length ?? 0;
  return () => {
    const asked = names?.asked.slice(seen) ?? [];
    seen += asked.length;
    return asked;
  };
}

function together(attacks: Attack[]): Attack[] {
  const groups: Attack[] = [];
  for (const { id, text } of attacks) {
    const last = groups.at(-1);
    const fits = last && !UNPRINTABLE.test(text + last.text) && text.length + last.text.length < TOGETHER_MAX;
    if (last && fits) Object.assign(last, { id: `${last.id},${id}`, text: `${last.text}\n\n${text}` });
    else groups.push({ id, text });
  }
  return groups.map(({ id, text }) => ({ id, text: text.slice(0, TOGETHER_MAX) }));
}

function withFields(names: readonly string[], text: string) {
  const body: Record<string, unknown> = structuredClone(quote);
  const line: Record<string, unknown> = { ...quote.lineItems[0] };
  for (const name of names) {
    if (name.startsWith('lineItems.')) line[name.slice('lineItems.'.length)] = text;
    else body[name] = text;
  }
  return { ...body, lineItems: [line] };
}

/** Entries whose spellings are rejected without a look-up of their name. */
const isBadByItself = (entry: number) => entry <= 41 || (entry >= 47 && entry <= 75) || entry >= 109;

export async function attackRegistration(field: Field, { system, layer }: Target): Promise<void> {
  const attacks = named(withHttps(hostileUrls), ({ url }) => url, field);
  const vector = 'webhook endpoint, registered';
  field.say(
    await tryAll(
      field,
      { layer, vector, atOnce: AT_ONCE },
      attacks,
      async ({ id, text, item }, report) => {
        const { status, body } = await system.call('POST', '/api/v1/webhooks', { body: { url: text } });
        if (status === 201) {
          if (isBadByItself(item.entry) && !item.isPublic) report.surprises.push(`${id}: ${text} was registered`);
          await system.call('DELETE', `/api/v1/webhooks/${body.data.id}`);
        } else if (status !== 400) report.surprises.push(`${id}: ${status} for ${text}`);
      },
      ({ id }) => id,
    ),
  );
}

/** The ports of mail, and one that no mail server has. */
const MAIL_PORTS = [25, 465, 587, 80];
const DIAL_LIMIT_MS = 2_000;

/** The mail service dials in its own process; here it is dialled in ours, which sees the same network. */
export async function attackMailServers(field: Field, { system, layer }: Target): Promise<void> {
  const hosts = named(
    hostileUrls.filter(({ url }) => /^[a-z]+:\/\//i.test(url)),
    ({ url }) => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '',
    field,
  );
  const dial = openMailDialler({ allow: '' });
  field.say(
    await tryAll(
      field,
      { layer, vector: 'mail server of an account', atOnce: 4 * AT_ONCE },
      hosts.map((attack, index) => ({ ...attack, port: MAIL_PORTS[index % MAIL_PORTS.length] as number })),
      async ({ id, text, item, port }, report) => {
        const host = text.replace(/:\d+$/, '');
        const body = { host, port, from: 'a@example.com' };
        const { status } = await system.call('PUT', '/api/v1/account/mail-server', { body });
        if (![200, 400].includes(status)) report.surprises.push(`${id}: ${status} for ${text}`);
        if (status === 200 && isBadByItself(item.entry) && !item.isPublic)
          report.surprises.push(`${id}: ${text} was set`);
        await dial({ host, port }, DIAL_LIMIT_MS).then(
          (socket) => socket.destroy(),
          () => undefined,
        );
      },
      ({ id }) => id,
    ),
  );
}

/** Endpoints that skipped every check of registration: a delivery must be safe by itself. */
export async function attackDelivery(field: Field, { system, layer }: Target): Promise<void> {
  const urls = field.isSampled ? inOneScheme(hostileUrls) : withHttps(hostileUrls);
  const attacks = named(urls, ({ url }) => url, field);
  const victim = await system.workspace.account();
  const box = openSecretBox(system.workspace.secretKey);
  const vector = 'webhook endpoint, delivered to';
  field.say(
    await tryAll(
      field,
      { layer, vector, atOnce: 1 },
      [attacks],
      async (list, report) => {
        report.attacks = list.length;
        const secret = box.seal(makeSecret());
        const endpoints = list.map(({ text }, slot) => ({
          account_id: victim.id,
          slot,
          url: text || ' ',
          events: ['*'],
          enabled: true,
          secret,
        }));
        await WebhookEndpoint.insertMany(endpoints as never);
        const call = callerOf(system.gateway.url, victim.key);
        await call('POST', '/api/v1/clients', { body: { name: 'x', email: 'x@example.com' } });
        // Twice each: what rebinds is another address then.
        const tried = {
          account_id: victim.id,
          $or: [{ attempts_made: { $gte: 2 } }, { status: 'delivered' as const }],
        };
        await eventually(async () => (await Delivery.countDocuments(tried)) === list.length, 120_000);
        const told = await Delivery.find({ account_id: victim.id }).lean();
        for (const { attempts } of told) {
          const classes = attempts.map((attempt) => attempt.error_class);
          if (attempts.some((attempt) => attempt.error_class === 'unreachable' && attempt.duration_ms !== undefined))
            report.leaks.push('a refusal tells its time');
          // A public address may answer too late on a busy machine.
          for (const kind of classes)
            if (!['unreachable', 'redirect', 'status', 'timeout', undefined].includes(kind ?? undefined))
              report.surprises.push(`error class ${kind}`);
        }
        await WebhookEndpoint.updateMany({ account_id: victim.id }, { $set: { enabled: false } });
      },
      () => 'deliveries',
    ),
  );
}

const secured = <Item extends { url: string }>(item: Item) => ({ ...item, url: item.url.replace(/^http:/i, 'https:') });

/** Only https may be registered: the same address that way, too. */
function withHttps(urls: typeof hostileUrls) {
  return [...urls, ...urls.filter(({ url }) => /^http:/i.test(url)).map(secured)];
}

function inOneScheme(urls: typeof hostileUrls) {
  return urls.map((item, index) => (index % 2 === 0 ? secured(item) : item));
}
