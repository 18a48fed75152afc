import { refuse, refuseField } from '../../../lib/errors.ts';
import type { Change } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { RequestedChange } from '../domain/change-planner.ts';
import { symlink } from '../domain/node.ts';
import { checkPath, checkTarget } from '../domain/paths.ts';
import type { OwnedContents } from '../store/contents.ts';
import type { RequestPart } from '../store/workspace-changes.ts';

/** Returns a part of a request that `read` decodes. The changes must have passed `checkChanges`. */
export function requestPart(read: () => readonly Change[], now: Date): RequestPart {
  return () => {
    const changes = read();
    return {
      contentIds: contentIdsOf(changes),
      paths: changes.map(pathOf),
      requestedChanges: (contents) => changes.map((change) => requestedChange(change, contents, now)),
    };
  };
}

/** Checks changes before any look-up. Refused with INVALID_REQUEST. */
export function checkChanges(changes: readonly Change[], maxChanges: number): void {
  if (changes.length > maxChanges) throw refuseField('/changes', `must have at most ${maxChanges} changes`);
  changes.forEach(checkChange);
}

function checkChange({ kind }: Change, index: number): void {
  const at = (member: string) => `/changes/${index}/${member}`;
  if (!kind) throw refuseField(`/changes/${index}`, 'must have a kind');
  if (kind.$case === 'move') {
    checkPath(kind.value.from, at('from'));
    checkPath(kind.value.to, at('to'));
  } else {
    checkPath(kind.value.path, at('path'));
  }
  if (kind.$case === 'putSymlink') checkTarget(kind.value.target, at('target'));
}

function contentIdsOf(changes: readonly Change[]): string[] {
  const ids = changes.flatMap(({ kind }) => (kind?.$case === 'putFile' ? [kind.value.contentId] : []));
  return [...new Set(ids)];
}

/** The path that the change creates, changes or removes. */
function pathOf({ kind }: Change): string {
  return kind?.$case === 'move' ? kind.value.to : (kind?.value.path ?? '');
}

function requestedChange({ kind }: Change, contents: OwnedContents, now: Date): RequestedChange {
  switch (kind?.$case) {
    case 'putFile': {
      const { path, contentId, executable, modifiedAt, required } = kind.value;
      const content = contents.get(contentId);
      if (!content) throw refuse('FILE_NOT_FOUND', `Unknown content \`${contentId}\`.`);
      const node = {
        kind: 'file' as const,
        contentId,
        ...content,
        executable,
        target: '',
        modifiedAt: modifiedAt ? clampTime(modifiedAt) : now,
      };
      return { kind: 'put', path, node, keepsTime: modifiedAt !== undefined, required };
    }
    case 'makeDirectory':
      return { kind: 'directory', path: kind.value.path };
    case 'putSymlink':
      return { kind: 'put', path: kind.value.path, node: symlink(kind.value.target, now), keepsTime: false };
    case 'move':
      return { kind: 'move', ...kind.value };
    case 'remove':
      return { kind: 'remove', ...kind.value };
    default:
      throw refuse('INVALID_REQUEST', 'Every change must have a kind.');
  }
}

const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Clamps a time that a program has given a file to the range 1970–9999, which databases and archives support. */
function clampTime(time: Date): Date {
  const ms = time.getTime();
  return new Date(Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LATEST));
}
