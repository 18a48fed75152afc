import { type FieldProblems, pointerSegment } from '../../../../../lib/field-problems.ts';
import { isObject, type JsonObject } from '../json-members.ts';

/** Reads the members of a body and reports those of another form. */
export function createMemberReader(problems: FieldProblems) {
  /** Reports members that are not documented. */
  function object(value: unknown, pointer: string, names: readonly string[]): JsonObject {
    if (!isObject(value)) {
      problems.add(pointer, 'must be an object');
      return {};
    }
    for (const name of Object.keys(value))
      if (!names.includes(name))
        problems.add(`${pointer}${pointerSegment(shortened(name))}`, 'is not a known member');
    return value;
  }

  function text(
    value: unknown,
    pointer: string,
    { min = 0, max }: { min?: number; max?: number } = {},
  ): string {
    if (typeof value !== 'string') {
      problems.add(pointer, value === undefined ? 'is required' : 'must be a text');
      return '';
    }
    if (max !== undefined) problems.characters(pointer, value, min, max);
    else problems.storable(pointer, value);
    return value;
  }

  function list(value: unknown, pointer: string, max: number): readonly unknown[] {
    if (!Array.isArray(value)) {
      problems.add(pointer, 'must be a list');
      return [];
    }
    if (value.length > max) problems.add(pointer, `must have at most ${max} items`);
    return value.slice(0, max);
  }

  return {
    object,
    text,
    list,
    optionalText: (value: unknown, pointer: string, range: { min?: number; max?: number }): string =>
      value === undefined ? '' : text(value, pointer, range),
    oneOf(value: unknown, pointer: string, allowed: readonly string[]): string {
      const chosen = text(value, pointer);
      if (typeof value === 'string') problems.oneOf(pointer, value, allowed);
      return chosen;
    },
  };
}

export type MemberReader = ReturnType<typeof createMemberReader>;

/** The pointer travels in the refusal. */
function shortened(name: string): string {
  return name.slice(0, 100).toWellFormed();
}
