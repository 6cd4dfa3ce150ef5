// Holds every answer of the contract suite against the OpenAPI document that the same gateway serves.
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Reply } from '../gateway.ts';

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string; content?: object }> }>>;
}

export type AnswerCheck = (method: string, path: string, reply: Reply) => void;

/** @throws an Error that says what in an answer the document does not know: a status, a field, a type. */
export function answerCheck(document: Document): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(closed(document) as AnySchemaObject, 'openapi');
  const templates = Object.keys(document.paths).map((path) => ({
    path,
    form: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

  return (method, url, reply) => {
    const path = templates.find(({ form }) => form.test(url.split('?', 1)[0] ?? ''))?.path;
    const operation = path === undefined ? undefined : document.paths[path]?.[method.toLowerCase()];
    // Unknown paths and methods are answered too, but no document describes what does not exist.
    if (path === undefined || !operation) return;
    const where = `${method} ${path} ${reply.status}`;
    // The document says it in words: a generated client would take the 200 for the type of every result.
    const isDryRun = url.includes('dry_run=true') && reply.status === 200;
    const status = isDryRun ? 201 : reply.status;
    const response = operation.responses[status];
    if (!response) throw new Error(`${where}: the document does not know this status`);
    if (Buffer.isBuffer(reply.body) || reply.status === 304) return;
    const holder = response.$ref ?? `#/paths/${pointer(path)}/${method.toLowerCase()}/responses/${status}`;
    const check = ajv.compile({ $ref: `openapi${holder}/content/application~1json/schema` });
    if (!check(isDryRun ? withId(reply.body) : reply.body)) {
      const problems = ajv.errorsText(check.errors, { dataVar: 'body' });
      throw new Error(`${where}: ${problems}\n${JSON.stringify(reply.body, null, 1)}`);
    }
  };
}

/** Gives a dry run's record an id, so that it has the shape of a stored one. */
function withId(body: Reply['body']) {
  if (body.data.id !== null) throw new Error(`a dry run has an id: ${JSON.stringify(body)}`);
  return { ...body, data: { ...body.data, id: '01890000-0000-7000-8000-000000000000' } };
}

// Callers must accept new fields, but our own tests reject fields without a description.
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  const isShape = 'properties' in copy && !('additionalProperties' in copy);
  return isShape ? { ...copy, additionalProperties: false } : copy;
}

function pointer(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
}
