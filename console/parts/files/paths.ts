/** The last part of a path. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The folder it is in; empty for the workspace itself. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

export const join = (folder: string, name: string): string => (folder ? `${folder}/${name}` : name);

/** All folders above it, the outermost first. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || folder === '' || path.startsWith(`${folder}/`);

/** In which order two names stand in a list of the service: by code points, which is by the bytes of their UTF-8. */
export function compareNames(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const a = one.charCodeAt(at);
    const b = other.charCodeAt(at);
    if (a === b) continue;
    // Surrogates stand for what comes after everything else.
    return isSurrogate(a) === isSurrogate(b) ? a - b : isSurrogate(a) ? 1 : -1;
  }
  return one.length - other.length;
}

const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff;
