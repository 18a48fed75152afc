/** Maximum number of characters of an automatic title. */
const MAX_CHARACTERS = 80;
/** Characters of the message that are read for the title. Messages may be megabytes long. */
const MAX_READ = 2_000;

/**
 * Returns an automatic title: the beginning of the text on one line, without characters that PostgreSQL cannot store.
 * Undefined when the text has no visible character.
 */
export function titleFromText(text: string): string | undefined {
  const line = text
    .slice(0, MAX_READ)
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const characters = [...line];
  if (characters.length === 0) return undefined;
  if (characters.length <= MAX_CHARACTERS) return line;
  const cut = characters.slice(0, MAX_CHARACTERS - 1).join('');
  const end = cut.lastIndexOf(' ');
  return `${(end > MAX_CHARACTERS / 2 ? cut.slice(0, end) : cut).trimEnd()}…`;
}
