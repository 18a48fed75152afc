import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Entry } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Clients } from '../../clients.ts';
import { putFileChanges, type WorkspaceUpload } from '../../files/upload.ts';
import type { WorkspaceLocation } from '../../files/workspace-owners.ts';

/** Writes the files of an upload as one version of the workspace. */
export async function writeFiles(
  { files }: Clients,
  location: WorkspaceLocation,
  upload: WorkspaceUpload,
  idempotencyKey: string,
  call: CallOptions,
): Promise<{ entries: Entry[]; version: number; replayed: boolean }> {
  const { contents } = await files.writeContents(upload.messages, call);
  const { entries, workspace, replayed } = await files.changeWorkspace(
    {
      ...location,
      baseVersion: undefined,
      changes: putFileChanges(upload, contents),
      upload: true,
      idempotencyKey,
    },
    call,
  );
  return { entries, version: workspace?.version ?? 0, replayed };
}
