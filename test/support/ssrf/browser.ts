// Chromium by itself under attack: pages that are nothing but the attack, behind one wall at a time.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { escape as escapeHtml } from 'es-toolkit/string/escape';
import { type Chromium, launchChromium } from '../../../services/renderer/browser/chromium-process.ts';
import { findIsolation, type Isolation } from '../../../services/renderer/browser/isolation.ts';
import { openWarmPage } from '../../../services/renderer/browser/warm-page.ts';
import { prepareFonts } from '../../../services/renderer/fonts/fonts.ts';
import { openTempDir } from '../../../services/renderer/temp-dir.ts';
import { testLog } from '../workspace.ts';
import { hostileMarkup } from './markup.ts';
import { readWords } from './read.ts';
import { type Attack, type Field, LEAK, named, SECRETS, tryAll } from './report.ts';
import { hostileUrls } from './urls.ts';

export interface Walls {
  /** The empty network namespace. */
  namespace: boolean;
  /** The closed proxy, the resolver that resolves nothing, and what else stands on the command line. */
  switches: boolean;
  /** The policy of the page, and scripts off. */
  policy: boolean;
}

/** For scripts, frames and what they ask for. */
const STAY_MS = 800;
/** Time after a print in which requests of the page may still arrive. */
const AFTERMATH_MS = 1_000;
const PAGES_AT_ONCE = 6;
const FRAMES = 8;

/** @param path a Chromium. @returns a program that starts it without the switches that keep it off the network. */
export async function withoutSwitches(folder: string, path: string): Promise<string> {
  const program = join(folder, 'chromium-without-switches');
  const guards =
    '--proxy-*|--host-resolver-rules=*|--dns-prefetch-disable|--no-pings|--force-webrtc-*|--disable-background-networking';
  const filter = `for word do shift; case $word in ${guards}) ;; *) set -- "$@" "$word";; esac; done`;
  await writeFile(program, `#!/bin/sh\n${filter}\nexec "${path}" "$@"\n`);
  await chmod(program, 0o755);
  return program;
}

/** A folder for the front of PATH with an `unshare` that starts its command in the network it is called in. */
export async function withoutNamespaces(folder: string): Promise<string> {
  const front = join(folder, 'front');
  await mkdir(front, { recursive: true });
  const filter = 'for word do case $word in --*) shift;; *) break;; esac; done';
  await writeFile(join(front, 'unshare'), `#!/bin/sh\n${filter}\nexec "$@"\n`);
  await chmod(join(front, 'unshare'), 0o755);
  return front;
}

export async function attackBrowser(field: Field, layer: string, chromiumPath: string, walls: Walls): Promise<void> {
  const { folder, remove } = await openTempDir();
  const found = await findIsolation(chromiumPath, testLog);
  const isolation = walls.namespace ? found : inOurNetwork(found);
  const path = walls.switches ? chromiumPath : await withoutSwitches(folder, chromiumPath);
  const fontsFile = await prepareFonts(folder, isolation);
  const chromium = await launchChromium({ path, isolation, folder, fontsFile });
  const asked = field.names?.asked.length ?? 0;
  const pages = pagesOf(field, walls);
  try {
    const about = {
      layer,
      vector: `${field.isFull ? 'each attack at each place of' : 'attacks as'} a page`,
      atOnce: PAGES_AT_ONCE,
    };
    const attempt = walls.policy ? await onWarmPages(chromium) : onFreshPages(chromium);
    const report = await tryAll(
      field,
      about,
      [...pages, undefined],
      async (attack, into) => {
        // The last one is the time the others need to come about.
        if (!attack) return void (await pause(AFTERMATH_MS));
        const pdf = await attempt(attack.text);
        const leak = pdf && (walls.policy ? LEAK : SECRETS).exec((await readWords(pdf)).text)?.[0];
        if (leak && !attack.text.includes(leak)) into.leaks.push(`${attack.id}: ${leak}`);
      },
      (attack) => attack?.id ?? 'aftermath',
    );
    field.say({
      ...report,
      attacks: pages.flatMap(({ id }) => id.split(',')).length,
      queries: field.names?.asked.slice(asked) ?? [],
    });
  } finally {
    await chromium.close();
    await remove();
  }
}

function inOurNetwork(isolation: Isolation): Isolation {
  const rest = isolation.wrapper.slice(isolation.wrapper.indexOf('--net') + 1);
  // The first word of the rest has no path, so env looks it up.
  return { ...isolation, wrapper: rest.length > 0 ? ['/usr/bin/env', ...rest] : [] };
}

/** The page a document would be if nothing were escaped: the attack at one place, and whatever an address may be given to. */
function pagesOf(field: Field, walls: Walls): Attack[] {
  const markup = named(hostileMarkup, (item) => item.markup, field);
  const urls = named(hostileUrls, (item) => item.url, field).filter(({ text }) => text.trim() !== '');
  const places = field.isFull ? PLACES : PLACES.slice(0, 1);
  const asMarkup = markup.flatMap(({ id, text }) =>
    places.map((place, index) => ({ id: `${id}@${index}`, text: place(text) })),
  );
  const uses = field.isFull ? USES : [(url: string) => USES.map((use) => use(url)).join('')];
  const asAddress = uses.flatMap((use, index) =>
    urls.map(({ id, text }) => ({ id: `${id}/${index}`, text: `<p>x</p>${use(escapeHtml(text))}` })),
  );
  const all = [...asMarkup, ...asAddress].map(({ id, text }) => ({ id, text: `<!doctype html>${text}` }));
  const wall = [walls.namespace, walls.switches, walls.policy].indexOf(true);
  const pages = field.isSampled && wall >= 0 ? all.filter((_page, index) => index % 3 === wall) : all;
  return walls.policy ? pages : inFrames(pages);
}

/** Several attacks on one page, each in a frame: none of them swallows its neighbour, or sends it away. */
function inFrames(pages: Attack[]): Attack[] {
  const groups = Array.from({ length: Math.ceil(pages.length / FRAMES) }, (_none, index) =>
    pages.slice(index * FRAMES, (index + 1) * FRAMES),
  );
  return groups.map((group) => ({
    id: group.map(({ id }) => id).join(','),
    text: `<!doctype html>${group.map(({ text }) => `<iframe srcdoc="${escapeHtml(text)}"></iframe>`).join('')}`,
  }));
}

const USES: ((url: string) => string)[] = [
  (url) => `<img src="${url}">`,
  (url) => `<div style="background:url('${url.replaceAll("'", '%27')}');height:9px"></div>`,
  (url) => `<iframe src="${url}"></iframe><object data="${url}"></object>`,
  (url) => `<link rel=stylesheet href="${url}"><script>fetch("${url}",{method:"POST",mode:"no-cors"})</script>`,
];

/** Where the twenty texts of a document stand. */
const PLACES: ((text: string) => string)[] = [
  (text) => `<p>x</p>${text}`,
  (text) => `<html><head><title>${text}</title></head><p>x`,
  (text) => `<html><head><meta name=author content="${text}"></head><p>x`,
  (text) => `<style>@page{@bottom-left{content:"${text}"}}</style><p>x`,
  (text) => `<header><div class=issuer-mark dir=auto>${text}</div></header>`,
  (text) => `<img alt="${text}" src="data:,">x`,
  (text) => `<h1>Quote</h1><p class=number><bdi>${text}</bdi></p>`,
  (text) => `<p class=party-name dir=auto>${text}</p>`,
  (text) => `<dl><div><dt>Number</dt><dd dir=auto>${text}</dd></div></dl>`,
  (text) => `<p class=intro dir=auto>${text}</p>`,
  (text) => `<section class=body>${text}</section>`,
  (text) => `<table><tbody><tr><td dir=auto>${text}</td></tr></tbody></table>`,
  (text) => `<table><tr><td class=n><bdi><bdi>${text}</bdi>1</bdi></td></tr></table>`,
  (text) => `<section class=remark><h2>Notes</h2><p dir=auto>${text}</p></section>`,
  (text) => `<body class="${text}"><p>x`,
  (text) => `<html lang="${text}"><p>x`,
  (text) => `<style>h1{color:${text}}</style><h1>x</h1>`,
  (text) => `<style>h1{font-family:'${text}'}</style><h1>x</h1>`,
  (text) => `<div class=banner><svg viewBox="0 0 9 9">${text}</svg></div>x`,
  (text) => `<p style="color:${text}">x`,
];

/** No policy, and scripts on: the page may do all a page may do. */
function onFreshPages({ control }: Chromium) {
  return async (html: string): Promise<Buffer | undefined> => {
    const { targetId } = await control.send('Target.createTarget', { url: 'about:blank' });
    try {
      const { sessionId } = await control.send('Target.attachToTarget', { targetId, flatten: true });
      const session = control.connection()?.session(sessionId);
      if (!session) throw new Error('the page was not opened');
      const { frameTree } = await session.send('Page.getFrameTree');
      await session.send('Page.setDocumentContent', { frameId: frameTree.frame.id, html });
      await pause(STAY_MS);
      if (!/file:|scripted/.test(html)) return undefined;
      const printed = await session.send('Page.printToPDF', {}).catch(() => undefined);
      return printed && Buffer.from(printed.data, 'base64');
    } finally {
      await control.send('Target.closeTarget', { targetId }).catch(() => undefined);
    }
  };
}

/** Pages as documents are printed on, taken in turn. */
async function onWarmPages(chromium: Chromium) {
  const idle = await Promise.all(Array.from({ length: PAGES_AT_ONCE + 1 }, () => openWarmPage(chromium)));
  return async (html: string): Promise<Buffer | undefined> => {
    const page = idle.pop() ?? (await openWarmPage(chromium));
    try {
      // The screen's style sheet of a document hides it: what is printed is all there is.
      const pdf = await page.print(`${html}<p>end</p>`, {});
      idle.push(page);
      return pdf;
    } catch {
      // A page that has left for elsewhere prints nothing: the renderer opens another, and so do we.
      await page.close();
      return undefined;
    }
  };
}
