// Leaves only the names that a shape knows, at every level: joi takes fifteen times as long for an unknown name as for an item of a list.
import type Joi from 'joi';
import { type Problem, problemOf } from '#libs/errors.ts';
import { UNPRINTABLE } from '#libs/printable.ts';
import { fieldsOf, isClosed, itemsOf } from './shape-fields.ts';

/** Unknown names that a response lists: enough to find the mistake. */
const NAMED_MAX = 20;
/** Characters of each. */
const NAME_LONGEST = 100;

type Path = readonly string[];

interface Known {
  value: unknown;
  /** Names in nested objects that the shape does not know. */
  unknown: Problem[];
  /** Names of the body itself that the shape does not know: they are ignored, and the response says so. */
  ignored: readonly string[];
}

type Prune = (value: unknown, path: Path, unknown: Problem[]) => unknown;

const asIs: Prune = (value) => value;

/** @returns what copies a value without unknown names; parts that have none are not copied. What is of another type passes as it is. */
export function knownNames(shape: Joi.Schema): (value: unknown) => Known {
  const prune = pruneOf(shape);
  const known = fieldsOf(shape);
  return (value) => {
    const unknown: Problem[] = [];
    return { value: prune(value, [], unknown), unknown, ignored: isClosed(shape) ? ignoredIn(value, known) : [] };
  };
}

function ignoredIn(value: unknown, known: ReadonlyMap<string, unknown>): readonly string[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [];
  const names = Object.keys(value).filter((name) => !known.has(name));
  return names.slice(0, NAMED_MAX).map(shownName);
}

/** Returns the name, cut to NAME_LONGEST and without characters that break a terminal or a log. */
function shownName(name: string): string {
  return name.slice(0, NAME_LONGEST).toWellFormed().replaceAll(new RegExp(UNPRINTABLE, 'g'), '\ufffd');
}

function pruneOf(shape: Joi.Schema): Prune {
  // A shape without a list of names allows every name, as the settings of a webhook do.
  if (shape.type === 'object' && isClosed(shape)) return pruneObject(shape);
  const [item, ...others] = itemsOf(shape);
  return shape.type === 'array' && item && others.length === 0 ? pruneItems(pruneOf(item)) : asIs;
}

function pruneObject(shape: Joi.Schema): Prune {
  const known = new Map([...fieldsOf(shape)].map(([name, field]) => [name, pruneOf(field)]));
  return (value, path, unknown) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    const given = value as Record<string, unknown>;
    if (path.length > 0) addUnknown(Object.keys(given), known, { path, unknown });
    const kept: Record<string, unknown> = {};
    for (const [name, prune] of known) {
      if (Object.hasOwn(given, name)) kept[name] = prune(given[name], [...path, name], unknown);
    }
    return kept;
  };
}

function pruneItems(prune: Prune): Prune {
  if (prune === asIs) return asIs;
  return (value, path, unknown) =>
    Array.isArray(value) ? value.map((item, index) => prune(item, [...path, String(index)], unknown)) : value;
}

function addUnknown(
  names: readonly string[],
  known: ReadonlyMap<string, unknown>,
  { path, unknown }: { path: Path; unknown: Problem[] },
): void {
  for (const name of names) {
    if (unknown.length === NAMED_MAX) return;
    if (known.has(name)) continue;
    unknown.push({ ...problemOf(labelOf([...path, name]), 'unknown_field'), path: [...path, name] });
  }
}

/** Returns the path in joi's form: `line_items[0].quantity`. */
function labelOf(path: Path): string {
  return path.reduce((label, name) => (/^\d+$/.test(name) ? `${label}[${name}]` : `${label}.${name}`));
}
