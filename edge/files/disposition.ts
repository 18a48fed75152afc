const UNSAFE = /[^\x20-\x7e]|["\\%]/g;
/** Characters that encodeURIComponent keeps and that are not attr-char of RFC 8187. */
const NOT_ATTRIBUTE = /['()*]/g;

/**
 * A Content-Disposition that saves a file under its name (https://www.rfc-editor.org/rfc/rfc6266). A name with characters
 * beyond plain ASCII is given twice: with substitutes for old clients, and encoded (RFC 8187).
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
