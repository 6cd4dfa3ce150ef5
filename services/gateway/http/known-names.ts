// Leaves only the names that a shape knows, at every level: joi takes fifteen times as long for an unknown name as for an item of a list.
import type Joi from 'joi';
import { fieldsOf, isClosed, itemsOf } from './shape-fields.ts';

type Prune = (value: unknown) => unknown;

const asIs: Prune = (value) => value;

/** @returns what copies a value without unknown names; parts that have none are not copied. What is of another type passes as it is. */
export function knownNames(shape: Joi.Schema): Prune {
  // Without a list of names every name is allowed, as in the settings of a webhook.
  if (shape.type === 'object' && isClosed(shape)) return pruneObject(shape);
  const [item, ...others] = itemsOf(shape);
  return shape.type === 'array' && item && others.length === 0 ? pruneItems(knownNames(item)) : asIs;
}

function pruneObject(shape: Joi.Schema): Prune {
  const known = new Map([...fieldsOf(shape)].map(([name, field]) => [name, knownNames(field)]));
  return (value) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    const given = value as Record<string, unknown>;
    const kept: Record<string, unknown> = {};
    for (const [name, prune] of known) if (Object.hasOwn(given, name)) kept[name] = prune(given[name]);
    return kept;
  };
}

function pruneItems(prune: Prune): Prune {
  if (prune === asIs) return asIs;
  return (value) => (Array.isArray(value) ? value.map(prune) : value);
}
