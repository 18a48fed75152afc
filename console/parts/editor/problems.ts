/** Validation errors of a request body by JSON Pointer. */
export type FieldProblems = Record<string, string>;

/** Returns the errors at a pointer and below it as one text. */
export function problemAt(problems: FieldProblems, pointer: string): string | undefined {
  const found = Object.entries(problems).filter(([at]) => at === pointer || at.startsWith(`${pointer}/`));
  if (found.length === 0) return undefined;
  return found
    .map(([at, message]) =>
      sentence(at === pointer ? message : `${partName(at.slice(pointer.length + 1))} ${message}`),
    )
    .join(' ');
}

/** Returns the errors of the models behind the first one, with their positions among themselves. */
export function fallbackModelProblem(problems: FieldProblems): string | undefined {
  const own = Object.entries(problems).flatMap(([pointer, message]): [string, string][] => {
    const [, index] = /^\/models\/(\d+)$/.exec(pointer) ?? [];
    if (index === undefined) return pointer === '/models' ? [[pointer, message]] : [];
    return index === '0' ? [] : [[`/models/${Number(index) - 1}`, message]];
  });
  return problemAt(Object.fromEntries(own), '/models');
}

/** Array entries are numbered from one in messages. */
const partName = (part: string) => (/^\d+$/.test(part) ? `entry ${Number(part) + 1}` : part);

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

export interface NumberRange {
  min: number;
  max: number;
  /** An empty text is valid. */
  optional?: boolean;
}

/** Parses a whole number within a range. */
export function wholeNumber(
  text: string,
  { min, max, optional }: NumberRange,
): { value?: number; problem?: string } {
  const trimmed = text.trim();
  if (trimmed === '' && optional) return {};
  const value = Number(trimmed);
  if (/^\d+$/.test(trimmed) && value >= min && value <= max) return { value };
  const range = `a whole number from ${min} to ${max.toLocaleString('en')}`;
  return { problem: optional ? `Enter ${range}, or leave the field empty.` : `Enter ${range}.` };
}

/** Parses a decimal number within a range. An empty text is valid. */
export function decimalNumber(
  text: string,
  { min, max }: Pick<NumberRange, 'min' | 'max'>,
): { value?: number; problem?: string } {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  const value = Number(trimmed);
  if (/^\d*\.?\d+$/.test(trimmed) && value >= min && value <= max) return { value };
  return { problem: `Enter a number from ${min} to ${max}, or leave the field empty.` };
}
