import type { FieldProblem } from '../../lib/errors.ts';
import { isStorable } from '../../lib/text.ts';
import { step } from './pointer.ts';

const MAX_PROBLEMS = 20;

export interface Unkeepable {
  /** Texts and names with NUL or a lone surrogate. */
  texts: FieldProblem[];
  /** Numbers that became infinite when they were read. */
  numbers: FieldProblem[];
}

/** Every place in a JSON value that cannot be kept as it came. The one place where client text is checked. */
export function findUnkeepable(value: unknown): Unkeepable {
  const found: Unkeepable = { texts: [], numbers: [] };
  visit(value, '', found);
  return found;
}

function visit(value: unknown, pointer: string, found: Unkeepable): void {
  if (found.texts.length + found.numbers.length >= MAX_PROBLEMS) return;
  if (typeof value === 'string') {
    if (!isStorable(value))
      found.texts.push({ pointer, message: 'holds a NUL character or a lone surrogate' });
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) found.numbers.push({ pointer, message: 'is too large a number' });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, pointer + step(index), found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (isStorable(name)) visit(member, pointer + step(name), found);
      else
        found.texts.push({
          pointer,
          message: 'has a member whose name holds a NUL character or a lone surrogate',
        });
    }
  }
}
