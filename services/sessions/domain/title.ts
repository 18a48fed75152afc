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
  let line = '';
  let title = '';
  for (const length of READ_CHARACTERS) {
    line = oneLine(text.slice(0, length));
    title = firstCharacters(line, MAX_CHARACTERS);
    if (title.length < line.length || text.length <= length) break;
  }
  if (title.length === line.length) return line === '' ? undefined : line;
  const cut = firstCharacters(line, MAX_CHARACTERS - 1);
  const end = cut.lastIndexOf(' ');
  return `${(end > MAX_CHARACTERS / 2 ? cut.slice(0, end) : cut).trimEnd()}…`;
}

/** Returns the text on one line: control characters and white space become single spaces. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** Returns the text up to this number of characters. An array of the characters would take several times as long. */
export function firstCharacters(text: string, count: number): string {
  let end = 0;
  for (let left = count; left > 0 && end < text.length; left--)
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
