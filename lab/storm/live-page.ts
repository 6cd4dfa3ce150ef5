// The page people watch a storm on: what is broken now, what is looked at, and what has come of it. It loads itself anew and needs no script.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { VNode } from 'preact';
import { html, renderPage } from '../../services/operations/views/html.ts';
import { clock, ORACLES, type StormState } from './storm-state.ts';

const RELOAD_SECONDS = 2;
const BREACHES_SHOWN = 20;
const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

const STYLE = `
  :root { color-scheme: light dark; --quiet: color-mix(in srgb, currentcolor 60%, transparent); --line: color-mix(in srgb, currentcolor 18%, transparent) }
  body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 1.5rem auto; padding: 0 1rem }
  h1 { font-size: 1.3rem; margin: 0 } h2 { font-size: .8rem; letter-spacing: .06em; text-transform: uppercase; color: var(--quiet); margin: 1.6rem 0 .4rem }
  p { margin: .2rem 0 } .quiet { color: var(--quiet) } .bad { color: #c62828 } .good { color: #2e7d32 }
  @media (prefers-color-scheme: dark) { .bad { color: #ff8a80 } .good { color: #81c784 } }
  dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .5rem 1rem; margin: 0 }
  dt { color: var(--quiet); font-size: .85rem } dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums }
  table { border-collapse: collapse; width: 100% } td { padding: .25rem .6rem .25rem 0; border-top: 1px solid var(--line); vertical-align: top }
  td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap } td:first-child { white-space: nowrap; width: 3.5rem }
  progress { width: 100%; height: .5rem } .now { border-left: .25rem solid #ef6c00; padding-left: .8rem; min-height: 3.2rem }
`;

export interface LivePage {
  url: string;
  close(): Promise<void>;
}

/** @param port 0 takes a free one. Only this machine can see it. */
export async function openLivePage(state: StormState, port: number): Promise<LivePage> {
  const server = createServer((_request, response) => {
    response.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': POLICY,
      'Cache-Control': 'no-store',
    });
    response.end(renderPage(pageOf(state)));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function pageOf(state: StormState): VNode {
  const { seed, minutes, phase, leg, legs, breaches, description } = state;
  const share = (Date.now() - state.startedAt.getTime()) / (minutes * 60_000);
  return html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      ${phase === 'over' ? null : html`<meta http-equiv="refresh" content=${RELOAD_SECONDS} />`}
      <title>${breaches.length > 0 ? `${breaches.length} breaches: ` : ''}storm ${seed}</title>
      <style dangerouslySetInnerHTML=${{ __html: STYLE }} />
    </head>
    <body>
      <h1>Storm, seed ${seed}: ${phase}</h1>
      <p class="quiet">${clock(state)} so far, ${minutes} min of storm${legs > 1 ? `, leg ${leg} of ${legs}` : ''}. ${description}</p>
      <progress value=${Math.min(1, share)} max="1"></progress>
      <h2>Being broken now</h2>
      <div class="now">${brokenNow(state)}</div>
      <h2>So far</h2>
      ${counts(state)}
      <h2>What is looked at</h2>
      <table>${Object.entries(ORACLES).map(([name, says]) => oracle(state, name, says))}</table>
      ${breaches.length > 0 ? breachList(state) : null}
      <h2>What happened</h2>
      <table>
        ${state.said.map(({ at, text }) => html`<tr><td class="quiet">${clock(state, at.getTime())}</td><td>${text}</td></tr>`)}
      </table>
      <h2>Broken so far</h2>
      <table>
        ${[...state.broken].map(([title, { id, times }]) => html`<tr><td>${id}</td><td>${title}</td><td class="number">${times}</td></tr>`)}
      </table>
    </body>
  </html>`;
}

function brokenNow({ running, phase }: StormState): VNode | VNode[] {
  if (running.size === 0)
    return html`<p class="quiet">Nothing${phase === 'judging' ? ': every oracle looks at everything' : ''}.</p>`;
  return [...running].map(
    ([{ fault, index }, { since, said }]) => html`<p>
      <strong>${fault.id} ${fault.title}</strong>
      <span class="quiet"> for ${Math.round((Date.now() - since.getTime()) / 1_000)} s, number ${index}</span><br />${said}
    </p>`,
  );
}

function counts({ counts: so, broken, breaches }: StormState): VNode {
  const faults = [...broken.values()].reduce((sum, { times }) => sum + times, 0);
  const all: [string, number][] = [
    ['requests', so.requests],
    ['refused with 503 or 504', so.refused],
    ['without an answer', so.unanswered],
    ['documents', so.documents],
    ['events', so.events],
    ['webhooks received', so.deliveries],
    ['faults', faults],
    ['kinds of faults', broken.size],
  ];
  return html`<dl>
    ${all.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value.toLocaleString('en')}</dd></div>`)}
    <div><dt>breaches</dt><dd class=${breaches.length > 0 ? 'bad' : 'good'}>${breaches.length}</dd></div>
  </dl>`;
}

function oracle({ looked, breaches }: StormState, name: string, says: string): VNode {
  const at = looked.get(name);
  const wrong = breaches.filter((breach) => breach.oracle === name).length;
  return html`<tr>
    <td>${name}</td>
    <td>${says}</td>
    <td class="number quiet">${at ? `${Math.round((Date.now() - at.getTime()) / 1_000)} s ago` : 'not yet'}</td>
    <td class=${`number ${wrong > 0 ? 'bad' : 'good'}`}>${wrong > 0 ? `${wrong} breaches` : 'well'}</td>
  </tr>`;
}

function breachList({ breaches }: StormState): VNode {
  return html`<div>
    <h2 class="bad">Breaches</h2>
    <table>
      ${breaches.slice(-BREACHES_SHOWN).map(({ oracle: of, text }) => html`<tr><td>${of}</td><td>${text.slice(0, 400)}</td></tr>`)}
    </table>
  </div>`;
}
