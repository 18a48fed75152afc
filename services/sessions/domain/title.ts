/** Characters of a title that is made of a message. */
const LONGEST = 80;
/** What has to be looked at to find that many; messages may be megabytes long. */
const LOOKED_AT = 2_000;

/**
 * A name for a session that has none: the beginning of its first message, on one line. Undefined when there is
 * nothing to make it of. What the database cannot hold in a text is left out here.
 */
export function titleOf(text: string): string | undefined {
  const line = text
    .slice(0, LOOKED_AT)
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const characters = [...line];
  if (characters.length === 0) return undefined;
  if (characters.length <= LONGEST) return line;
  const cut = characters.slice(0, LONGEST - 1).join('');
  const end = cut.lastIndexOf(' ');
  return `${(end > LONGEST / 2 ? cut.slice(0, end) : cut).trimEnd()}…`;
}
