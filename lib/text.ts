/**
 * Returns whether an untrusted text can be stored unchanged: without NUL, which PostgreSQL cannot store, and without
 * lone surrogates, which UTF-8 cannot encode.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Replaces characters that PostgreSQL cannot store with U+FFFD. For text from models and tools. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
