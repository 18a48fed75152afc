/** The last part of a path. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The parent folder; empty for the root of the workspace. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

export const join = (folder: string, name: string): string => (folder ? `${folder}/${name}` : name);

/** All parent folders, outermost first. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || folder === '' || path.startsWith(`${folder}/`);

/** Compares names in the order of the API: by code points, which equals the order of UTF-8 bytes. */
export function compareNames(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const a = one.charCodeAt(at);
    const b = other.charCodeAt(at);
    if (a === b) continue;
    // Surrogates encode code points above all others.
    return isSurrogate(a) === isSurrogate(b) ? a - b : isSurrogate(a) ? 1 : -1;
  }
  return one.length - other.length;
}

const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff;
