/**
 * Whether a text from outside can be stored and sent on as it is: no NUL, which PostgreSQL cannot hold,
 * and no lone surrogate, which UTF-8 cannot.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
