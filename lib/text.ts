/**
 * Whether a text from outside can be stored and sent on as it is: no NUL, which PostgreSQL cannot hold,
 * and no lone surrogate, which UTF-8 cannot.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A text from a model or a tool, made fit for a column of type text: what cannot be stored is replaced (U+FFFD). */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
