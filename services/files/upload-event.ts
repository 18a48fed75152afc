import type { EventType } from '../../lib/event-types.ts';
import type { FileEvent } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { UploadSummary } from './store/change-feed.ts';

/** The event of an upload, whose number is that of its first change. */
export function uploadEvent(
  { firstSeq: seq, workspaceVersion, fileCount, bytes, files }: UploadSummary,
  { userId, createdAt }: { userId: string; createdAt: Date },
): FileEvent {
  const data = { workspace_version: workspaceVersion, file_count: fileCount, bytes, files };
  const type: EventType = 'files.uploaded';
  return { seq, type, dataJson: JSON.stringify(data), userId, createdAt };
}
