import type { Client } from '../../../lib/grpc/contract.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lists } from '../store/lists.ts';

interface UnmadeSessionContext {
  files: Pick<Client<FilesServiceDefinition>, 'deleteWorkspace'>;
  lists: Pick<Lists, 'session'>;
}

export type UnmadeSessions = ReturnType<typeof createUnmadeSessions>;

/** Discards the files and parts that were stored for a session before its commit. */
export function createUnmadeSessions({ files, lists }: UnmadeSessionContext) {
  /** If this fails, the files service finds out later that the session does not exist. */
  async function discard(sessionId: string): Promise<void> {
    await files.deleteWorkspace({ place: { of: { $case: 'sessionId', value: sessionId } } }).catch(() => {});
  }

  /**
   * Whether the session does not exist. The answer of a commit can get lost, and the workspace of a session that exists
   * must stay. While this cannot be read, the session counts as existing.
   */
  async function isAbsent(sessionId: string): Promise<boolean> {
    return lists.session(sessionId).then(
      (row) => row === undefined,
      () => false,
    );
  }

  return {
    discard,
    async discardIfAbsent(sessionId: string): Promise<void> {
      if (await isAbsent(sessionId)) await discard(sessionId);
    },
  };
}
