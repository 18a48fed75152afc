/** Maximum number of characters of an automatic title. */
const MAX_CHARACTERS = 80;
/**
 * Characters of the message that are read for the title. Messages may be megabytes long; the first number is enough unless
 * most of them are white space.
 */
const READ_CHARACTERS = [200, 2_000];

/**
 * Returns an automatic title: the beginning of the text on one line, without characters that PostgreSQL cannot store.
 * Undefined when the text has no visible character.
 */
export function titleFromText(text: string): string | undefined {
  let characters: string[] = [];
  for (const length of READ_CHARACTERS) {
    characters = [...oneLine(text.slice(0, length))];
    if (characters.length > MAX_CHARACTERS || text.length <= length) break;
  }
  if (characters.length === 0) return undefined;
  if (characters.length <= MAX_CHARACTERS) return characters.join('');
  const cut = characters.slice(0, MAX_CHARACTERS - 1).join('');
  const end = cut.lastIndexOf(' ');
  return `${(end > MAX_CHARACTERS / 2 ? cut.slice(0, end) : cut).trimEnd()}…`;
}

function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}
