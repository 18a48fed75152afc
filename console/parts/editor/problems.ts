/** What is wrong with which member of a body, by its JSON pointer. */
export type Problems = Record<string, string>;

/** What is wrong with a member, or with something inside it. */
export function problemAt(problems: Problems, pointer: string): string | undefined {
  const found = Object.entries(problems).filter(([at]) => at === pointer || at.startsWith(`${pointer}/`));
  if (found.length === 0) return undefined;
  return found
    .map(([at, message]) =>
      sentence(at === pointer ? message : `${partName(at.slice(pointer.length + 1))} ${message}`),
    )
    .join(' ');
}

/** People count from one. */
const partName = (part: string) => (/^\d+$/.test(part) ? `entry ${Number(part) + 1}` : part);

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

export interface Range {
  min: number;
  max: number;
  /** Nothing is a good answer, too. */
  optional?: boolean;
}

/** The whole number that a text says. */
export function wholeNumber(
  text: string,
  { min, max, optional }: Range,
): { value?: number; problem?: string } {
  const trimmed = text.trim();
  if (trimmed === '' && optional) return {};
  const value = Number(trimmed);
  if (/^\d+$/.test(trimmed) && value >= min && value <= max) return { value };
  const range = `a whole number from ${min} to ${max.toLocaleString('en')}`;
  return { problem: optional ? `This is ${range}, or nothing.` : `This is ${range}.` };
}
