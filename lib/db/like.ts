/** Returns a LIKE/ILIKE pattern that matches the text anywhere. `%`, `_` and `\` in the text match literally. */
export function likePattern(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}
