// The part of the reference page about events: every type with the fields of its body and an example.
import { fieldsTable, type Resolve } from './fields-table.ts';
import { html, type Markup, markdown } from './html.ts';
import type { JsonSchema } from './json-schema.ts';
import type { WebhookCall } from './webhooks.ts';

const introduction = `Billhook sends these to the endpoints that subscribe to them (see Webhooks), each with \`webhook-id\`,
\`webhook-timestamp\` and \`webhook-signature\` after Standard Webhooks 1.0.0. \`data\` is the record
as the API returned it when it happened; a record may gain fields. The same is at \`GET /api/v1/event-types\` as JSON Schema,
and the feed \`GET /api/v1/events\` holds what has happened.`;

export function eventSections(webhooks: Record<string, { post: WebhookCall }>, resolve: Resolve): Markup {
  const calls = Object.entries(webhooks);
  return html`<h1>Event types</h1>${markdown(introduction)}${calls.map(([type, { post }]) => section(type, post, resolve))}`;
}

function section(type: string, { operationId, description, requestBody }: WebhookCall, resolve: Resolve): Markup {
  const { schema, example } = requestBody.content['application/json'];
  return html`<section id="${operationId}">
<h2><code>${type}</code></h2>
${markdown(description)}
<h4>Body</h4>${fieldsTable(schema as JsonSchema, resolve)}
<h4>Example</h4><pre>${JSON.stringify(example, null, 2)}</pre>
</section>`;
}
