/** A pattern for LIKE and ILIKE that finds the text anywhere, with its own `%`, `_` and `\` taken literally. */
export function likePattern(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}
