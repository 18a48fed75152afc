/**
 * Encoded slashes, backslashes and dots, and characters that are encoded twice: servers differ in whether they decode them
 * before they look up a path. A backslash is a slash to some servers, and `;` begins parameters of a segment to others.
 */
const AMBIGUOUS = /%(2f|5c|00|25(2e|2f|5c))|\\|\/\.{1,2};/i;

/** Returns whether a path is below one of the prefixes, in whichever order a server removes `..` and `//`. */
export function isBelowPrefix(path: string, prefixes: readonly string[]): boolean {
  if (AMBIGUOUS.test(path)) return false;
  const decoded = decodeUnreserved(path);
  const readings = [
    removeDotSegments(decoded.replace(/\/{2,}/g, '/')),
    removeDotSegments(decoded).replace(/\/{2,}/g, '/'),
  ];
  return readings.every((reading) =>
    prefixes.some((prefix) => isBelow(reading, decodeUnreserved(prefix).replace(/\/$/, ''))),
  );
}

const isBelow = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

/** Decodes characters that need no encoding (RFC 3986, 2.3). Other encoded characters get capital digits. */
function decodeUnreserved(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

/** RFC 3986, 5.2.4. */
function removeDotSegments(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
    if (isLast && (segment === '.' || segment === '..')) kept.push('');
  }
  return `/${kept.join('/')}`;
}
