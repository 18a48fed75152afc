import type { ChatItem, FileChanges, Upload } from './chat-items.ts';
import type { DurableEvent, FileEvent } from './event.ts';

/** Number of paths that an upload item lists. An event of the service lists as many. */
const LISTED_FILES = 100;

/**
 * Returns a function that adds a file event to the conversation. Consecutive uploads become one item, and so do consecutive
 * changes by tools. Before uploads had an event of their own, each uploaded file had an event by the user.
 */
export function fileEventFolder(
  events: readonly DurableEvent[],
): (items: ChatItem[], event: FileEvent) => void {
  const movedVersions = new Set<number>();
  for (const event of events)
    if (event.type === 'file.deleted' && event.actor.type === 'user')
      movedVersions.add(event.data.workspace_version);

  return (items, event) => {
    const last = items.at(-1);
    if (event.type === 'files.uploaded') {
      addToUpload(items, event, event.data);
      return;
    }
    const { path, workspace_version: version } = event.data;
    const isUpload =
      event.type !== 'file.deleted' && event.actor.type === 'user' && !movedVersions.has(version);
    if (isUpload) {
      const { size } = event.data;
      addToUpload(items, event, { file_count: 1, bytes: size, files: [{ path, size }] });
      return;
    }
    const file = { seq: event.seq, path, change: changeOf(event.type) };
    if (last?.kind === 'files') {
      last.files.push(file);
      last.lastSeq = event.seq;
    } else items.push({ kind: 'files', ...positionOf(event), files: [file] });
  };
}

interface UploadedFiles {
  file_count: number;
  bytes: number;
  files: readonly { path: string; size: number }[];
}

function addToUpload(
  items: ChatItem[],
  event: FileEvent,
  { file_count: count, bytes, files }: UploadedFiles,
) {
  const last = items.at(-1);
  let upload: Upload;
  if (last?.kind === 'upload') upload = last;
  else {
    upload = { kind: 'upload', ...positionOf(event), fileCount: 0, bytes: 0, files: [] };
    items.push(upload);
  }
  upload.lastSeq = event.seq;
  upload.fileCount += count;
  upload.bytes += bytes;
  for (const { path, size } of files.slice(0, LISTED_FILES - upload.files.length))
    upload.files.push({ path, size });
}

const positionOf = ({ event_id: key, seq, created_at: createdAt }: FileEvent) => ({
  key,
  seq,
  lastSeq: seq,
  createdAt,
});

function changeOf(
  type: 'file.created' | 'file.modified' | 'file.deleted',
): FileChanges['files'][number]['change'] {
  return type.slice('file.'.length) as 'created' | 'modified' | 'deleted';
}
