import { sha256 } from '../../../lib/digest.ts';
import { ERRORS } from '../../../lib/error-codes.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import { type FilesClient, WorkspaceClient } from '../workspace/workspace-client.ts';

export interface ResultFile {
  path: string;
  text: string;
}

const DIRECTORY = '.outputs';
/** A retry would meet the same limit. */
const FULL: ReadonlySet<string> = new Set(['QUOTA_EXCEEDED', 'STORAGE_FULL']);

/** The file of a result. Sessions of an assistant share a workspace, so its path has a part of the session's id. */
export function resultPath(sessionId: string, seq: number): string {
  return `${DIRECTORY}/${sessionId.slice(-8).toLowerCase()}/${seq}.txt`;
}

/**
 * Writes the outputs of tools into the workspace under the lease of the turn. Resolves with false when the workspace does not
 * take them, for example because it is full. Repeating it changes nothing. Rejects with LEASE_LOST, and while the files
 * service is unavailable.
 */
export async function writeResultFiles(
  { claimed, span, signal }: LeasedTurn,
  found: readonly ResultFile[],
  files: FilesClient,
): Promise<boolean> {
  const { sessionId, turnId, fence } = claimed;
  const turn = { lease: { sessionId, turnId, fence }, trace: span.trace };
  const workspace = new WorkspaceClient(files, turn, signal);
  try {
    const contents = await workspace.write(
      found.map(({ text }) => {
        const bytes = Buffer.from(text);
        return { size: bytes.length, read: () => [bytes] };
      }),
    );
    const changes = found.map(({ path }, index) => {
      const contentId = contents[index]?.contentId ?? '';
      const value = { path, contentId, executable: false, modifiedAt: undefined };
      return { kind: { $case: 'putFile' as const, value } };
    });
    const paths = found.map(({ path }) => path).join('\n');
    await workspace.change(changes, { key: `${turnId} results ${sha256(paths)}` });
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code } = error;
    if (FULL.has(code)) return false;
    if (code === 'LEASE_LOST' || code === 'INTERNAL' || ERRORS[code].retryable) throw error;
    return false;
  }
}
