/** The steps of about a millisecond. */
const MAX_STEPS = 10_000;
/** As in the thread of the SchemaValidator. */
const MAX_LEVELS = 100;

/**
 * Returns whether a JSON value matches a JSON Schema beyond doubt. A schema with other keywords than the common ones below,
 * and a value that needs too many steps, give false, too: the SchemaValidator decides. The work is bounded for every
 * schema, so it needs no thread of its own.
 */
export function isClearlyValid(schema: unknown, value: unknown): boolean {
  return new Check().matches(schema, value, MAX_LEVELS);
}

/** Keywords that refuse no value. */
const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', '$schema', '$comment']);
const NO_MEMBERS: Readonly<Record<string, unknown>> = {};

class Check {
  #steps = 0;

  /** `levels`: how deep the value may still be nested. */
  matches(schema: unknown, value: unknown, levels: number): boolean {
    if (++this.#steps > MAX_STEPS) return false;
    if (schema === true) return this.#membersMatch(NO_MEMBERS, value, levels);
    if (!isObject(schema)) return false;
    for (const name in schema) if (!this.#keywordMatches(name, schema[name], value, levels)) return false;
    return this.#membersMatch(schema, value, levels);
  }

  #keywordMatches(name: string, rule: unknown, value: unknown, levels: number): boolean {
    switch (name) {
      case 'type':
        return this.#some(rule, (type) => isOfType(type, value));
      case 'enum':
        return this.#some(rule, (one) => one === value);
      case 'anyOf':
        return this.#some(rule, (one) => this.matches(one, value, levels));
      case 'minimum':
        return typeof value !== 'number' || value >= Number(rule);
      case 'maximum':
        return typeof value !== 'number' || value <= Number(rule);
      case 'minLength':
        // A longer text can have fewer characters than code units.
        return typeof value !== 'string' || (Number(rule) <= 1 && value.length >= Number(rule));
      case 'maxLength':
        return typeof value !== 'string' || value.length <= Number(rule);
      case 'minItems':
        return !Array.isArray(value) || value.length >= Number(rule);
      case 'maxItems':
        return !Array.isArray(value) || value.length <= Number(rule);
      case 'required':
        return !isObject(value) || this.#every(rule, (member) => Object.hasOwn(value, String(member)));
      case 'additionalProperties':
        return typeof rule === 'boolean';
      case 'properties':
      case 'items':
        return true;
      default:
        return ANNOTATIONS.has(name);
    }
  }

  /** Visits every member and item of the value, because the steps and levels of the whole value are limited. */
  #membersMatch(schema: Readonly<Record<string, unknown>>, value: unknown, levels: number): boolean {
    if (typeof value !== 'object' || value === null) return true;
    if (levels === 0) return false;
    const { properties, items = true, additionalProperties = true } = schema;
    if (Array.isArray(value)) return value.every((item) => this.matches(items, item, levels - 1));
    for (const name in value) {
      const isKnown = isObject(properties) && Object.hasOwn(properties, name);
      if (!isKnown && additionalProperties !== true) return false;
      const member = isKnown ? properties[name] : true;
      if (!this.matches(member, (value as Record<string, unknown>)[name], levels - 1)) return false;
    }
    return true;
  }

  #some(list: unknown, matches: (item: unknown) => boolean): boolean {
    const items = Array.isArray(list) ? list : [list];
    return items.some((item) => ++this.#steps <= MAX_STEPS && matches(item));
  }

  #every(list: unknown, matches: (item: unknown) => boolean): boolean {
    return Array.isArray(list) && list.every((item) => ++this.#steps <= MAX_STEPS && matches(item));
  }
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'null':
      return value === null;
    default:
      return (type === 'string' || type === 'boolean') && typeof value === type;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
