// llms.txt (https://llmstxt.org): what a language model reads first, with links to the rest.
import { guideNames, guides } from './guides.ts';

export function llmsText(): string {
  const links = guideNames.map((name) => `- [${guides[name].title}](/docs/guides/${name}.md): ${guides[name].about}`);
  return `# Billhook

> Self-hosted billing and time-tracking API: clients, projects, time, quotes, invoices, payments, PDF documents and webhooks over HTTP and JSON.

Every operation needs \`Authorization: Bearer <API key>\`. The OpenAPI document has every operation, field and event.

## Reference

- [OpenAPI 3.1 document](/openapi.json): every operation, parameter, field, error and webhook

## Guides

${links.join('\n')}
`;
}
