/** A file, directory or symlink, without its path. */
export interface Node {
  kind: 'file' | 'directory' | 'symlink';
  /** cnt_…; empty unless it is a file. */
  contentId: string;
  /** In bytes; 0 unless it is a file. */
  size: number;
  /** Lowercase hexadecimal; empty unless it is a file. */
  sha256: string;
  executable: boolean;
  /** Target of a symlink; otherwise empty. */
  target: string;
  modifiedAt: Date;
}

export interface TreeEntry {
  path: string;
  node: Node;
}

export function directory(modifiedAt: Date): Node {
  return { ...EMPTY_NODE, kind: 'directory', modifiedAt };
}

export function symlink(target: string, modifiedAt: Date): Node {
  return { ...EMPTY_NODE, kind: 'symlink', target, modifiedAt };
}

const EMPTY_NODE = { contentId: '', size: 0, sha256: '', executable: false, target: '' };

/** Returns whether both nodes have the same kind and content; their modification times may differ. */
export function sameContent(one: Node | undefined, other: Node | undefined): boolean {
  return one?.kind === other?.kind && one?.sha256 === other?.sha256 && one?.target === other?.target;
}

export function sameNode(one: Node | undefined, other: Node | undefined): boolean {
  return (
    sameContent(one, other) &&
    one?.executable === other?.executable &&
    one?.modifiedAt.getTime() === other?.modifiedAt.getTime()
  );
}
