// The reference as one page without scripts: it works offline, in print and under a policy that allows nothing.
import { eventSections } from './event-sections.ts';
import { fieldsTable, type Resolve, typeOf } from './fields-table.ts';
import { html, Markup, markdown } from './html.ts';
import type { JsonSchema } from './json-schema.ts';
import type { OpenApi } from './openapi.ts';
import type { Operation } from './operation.ts';
import { style } from './style.ts';

interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

type ResponseObject = { description: string; content?: Record<string, { schema: JsonSchema }> };

export function makePage(document: OpenApi): string {
  const resolve: Resolve = (value) => resolved(document, value);
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Entry => ({ method, path, operation })),
  );
  const events = Object.entries(document.webhooks);
  const groups = document.tags.map(({ name }) => ({
    name,
    entries: entries.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const operations = groups.filter((group) => group.entries.length > 0);
  const { title, version, description } = document.info;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API ${version}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<nav aria-label="Operations">
<a class="home" href="#top">${title} <small>${version}</small></a>
<a href="/openapi.json">OpenAPI document</a>
${operations.map(
  ({ name, entries }) =>
    html`<h2>${name}</h2><ul>${entries.map(
      ({ method, operation }) =>
        html`<li><a href="#${operation.operationId}"><b class="${method}">${method.toUpperCase()}</b> ${operation.summary}</a></li>`,
    )}</ul>`,
)}
<h2>Event types</h2><ul>${events.map(
    ([type, { post }]) => html`<li class="event"><a href="#${post.operationId}">${type}</a></li>`,
  )}</ul>
</nav>
<main id="top">
<h1>${title} API</h1>
${markdown(description)}
${operations.map(({ name, entries }) => html`<h1>${name}</h1>${entries.map((entry) => section(entry, resolve))}`)}
${eventSections(document.webhooks, resolve)}
</main>
</body>
</html>`.text;
}

function section(entry: Entry, resolve: Resolve): Markup {
  const { method, path, operation } = entry;
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter) as Parameter);
  const body = jsonOf(operation.requestBody as ResponseObject | undefined);
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolve(response)] as const,
  );
  return html`<section id="${operation.operationId}">
<h2><b class="${method}">${method.toUpperCase()}</b> <code>${path}</code></h2>
<h3>${operation.summary}</h3>
${markdown(operation.description)}
${parameters.length > 0 && html`<h4>Parameters</h4><table>${parameters.map((parameter) => parameterRow(parameter))}</table>`}
${body && html`<h4>Body</h4>${fieldsTable(body.schema, resolve)}`}
<h4>Example</h4><pre>${curl(entry, body && exampleIn(body.schema, resolve))}</pre>
<h4>Responses</h4><dl>${responses.map(([status, response]) => responseOf(status, response as ResponseObject, resolve))}</dl>
</section>`;
}

function parameterRow({ name, in: where, required, description, schema }: Parameter): Markup {
  return html`<tr><th><code>${name}</code>${required && html` <em>required</em>`}</th><td>${where}, ${typeOf(schema)}</td>
<td>${description && markdown(description)}</td></tr>`;
}

function responseOf(status: string, response: ResponseObject, resolve: Resolve): Markup {
  const json = jsonOf(response);
  const isSuccess = status.startsWith('2');
  return html`<dt class="${isSuccess ? 'success' : 'failure'}">${status}</dt><dd>${markdown(response.description)}${
    json && isSuccess && fieldsTable(json.schema, resolve)
  }</dd>`;
}

function jsonOf(holder: ResponseObject | undefined) {
  return holder?.content?.['application/json'];
}

function exampleIn(schema: JsonSchema, resolve: Resolve): unknown {
  return (resolve(schema) as { examples?: unknown[] }).examples?.[0];
}

function curl({ method, path, operation }: Entry, example: unknown): string {
  const parameters = (operation.parameters ?? []) as Array<{ in?: string; name?: string; example?: string | number }>;
  const inPath = new Map(parameters.map(({ name, example }) => [`{${name}}`, String(example)]));
  const file = fileOf(operation);
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$URL${path.replaceAll(/\{\w+\}/g, (name) => inPath.get(name) ?? '')}"`,
    '-H "Authorization: Bearer $KEY"',
    ...(example === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${quoted(JSON.stringify(example, null, 2))}'`]),
    ...(file ? [`-o ${file}`] : []),
  ];
  return lines.join(' \\\n  ');
}

function fileOf({ responses }: Operation): string | undefined {
  const { content = {} } = (responses['200'] ?? {}) as { content?: object };
  if ('application/pdf' in content) return 'document.pdf';
  return 'application/zip' in content ? 'documents.zip' : undefined;
}

function quoted(text: string): string {
  return text.replaceAll("'", "'\\''");
}

function resolved<Value>(document: OpenApi, value: Value): Value {
  const path = (value as { $ref?: string } | undefined)?.$ref;
  if (path === undefined) return value;
  const steps = path.slice('#/'.length).split('/');
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document) as Value;
}
