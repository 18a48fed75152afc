import type { FieldProblem } from '../../lib/errors.ts';
import { pointerStep } from '../../lib/json-schema/pointer.ts';
import { isStorable } from '../../lib/text.ts';

const MAX_PROBLEMS = 20;

interface UnstorableValues {
  /** Strings and member names with a NUL character or a lone surrogate. */
  texts: FieldProblem[];
  /** Numbers that became infinite when they were parsed. */
  numbers: FieldProblem[];
}

/** Finds all values in a JSON value that cannot be stored unchanged. This is the only check of client text. */
export function findUnstorable(value: unknown): UnstorableValues {
  const found: UnstorableValues = { texts: [], numbers: [] };
  visit(value, '', found);
  return found;
}

function visit(value: unknown, pointer: string, found: UnstorableValues): void {
  if (found.texts.length + found.numbers.length >= MAX_PROBLEMS) return;
  if (typeof value === 'string') {
    if (!isStorable(value))
      found.texts.push({ pointer, message: 'contains a NUL character or a lone surrogate' });
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) found.numbers.push({ pointer, message: 'is too large' });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, pointer + pointerStep(index), found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (isStorable(name)) visit(member, pointer + pointerStep(name), found);
      else
        found.texts.push({
          pointer,
          message: 'has a member name with a NUL character or a lone surrogate',
        });
    }
  }
}
