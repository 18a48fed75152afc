/** What stands at a path. */
export interface Node {
  kind: 'file' | 'directory' | 'symlink';
  /** cnt_…; empty unless it is a file. */
  contentId: string;
  /** In bytes; 0 unless it is a file. */
  size: number;
  /** Lowercase hexadecimal; empty unless it is a file. */
  sha256: string;
  executable: boolean;
  /** Of a symlink; otherwise empty. */
  target: string;
  modifiedAt: Date;
}

export interface Placed {
  path: string;
  node: Node;
}

export function directory(modifiedAt: Date): Node {
  return { ...NOTHING_IN_IT, kind: 'directory', modifiedAt };
}

export function symlink(target: string, modifiedAt: Date): Node {
  return { ...NOTHING_IN_IT, kind: 'symlink', target, modifiedAt };
}

const NOTHING_IN_IT = { contentId: '', size: 0, sha256: '', executable: false, target: '' };

/** Whether both say the same to whoever reads them, whenever it was written. */
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
