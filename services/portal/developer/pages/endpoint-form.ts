// The form with the fields of an endpoint.
import type { VNode } from 'preact';
import { URL_LONGEST } from '#libs/outbound/url-form.ts';
import { type Children, html } from '#libs/pages/html.ts';
import { faultOf, formProblem } from '#libs/pages/parts.ts';
import { EVENTS } from '../layout.ts';

/** The fields as they were typed. */
export interface EndpointFields {
  url: string;
  /** Event types, apart by commas, blanks or lines. */
  events: string;
  description: string;
}

export interface FormAgain {
  fields: EndpointFields;
  /** The problems of the fields. */
  problem: Children;
  /** The names of the fields that have a problem. */
  wrong: readonly string[];
}

export function endpointForm(options: {
  to: string;
  csrf: string;
  label: string;
  fields: EndpointFields;
  /** The id of the newest endpoint, for a form that adds one: sent again, it finds another one. */
  seen?: string;
  again: FormAgain | undefined;
}): VNode {
  const { to, csrf, label, fields, seen, again } = options;
  const fault = (name: keyof EndpointFields) => faultOf(name, again?.wrong);
  return html`<form class="card fields" method="post" action=${to}>
    ${again ? formProblem(again.problem) : null}
    <input type="hidden" name="csrf" value=${csrf} />
    ${seen === undefined ? null : html`<input type="hidden" name="seen" value=${seen} />`}
    <label>URL<input type="url" name="url" value=${fields.url} maxlength=${URL_LONGEST} placeholder="https://example.com/hooks" required autocomplete="off" ...${fault('url')} /></label>
    <label>Events<textarea name="events" rows="3" required spellcheck=${false} autocapitalize="none" ...${fault('events')}>${fields.events}</textarea></label>
    <p class="quiet"><code>*</code> is every event, <code>invoice.*</code> all of invoices. See the <a href=${EVENTS}>event types</a>.</p>
    <label>Note<input name="description" value=${fields.description} maxlength="255" autocomplete="off" ...${fault('description')} /></label>
    <button class="main">${label}</button>
  </form>`;
}
