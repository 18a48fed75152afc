const UNSAFE = /[^\x20-\x7e]|["\\%]/g;
/** What RFC 8187 calls attr-char, of what encodeURIComponent leaves as it is. */
const NOT_ATTRIBUTE = /['()*]/g;

/**
 * A Content-Disposition under which a file is saved under its name (https://www.rfc-editor.org/rfc/rfc6266). A name that
 * is more than plain ASCII comes twice: with substitutes for old readers, and as it is (RFC 8187).
 */
export function attachment(name: string): string {
  const plain = name.replace(UNSAFE, '_');
  if (plain === name) return `attachment; filename="${name}"`;
  const encoded = encodeURIComponent(name).replace(
    NOT_ATTRIBUTE,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
