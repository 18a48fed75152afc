import { queryOptions } from '@tanstack/react-query';
import {
  createAssistantDirectory,
  createSessionDirectory,
  deleteAssistantFile,
  deleteSessionFile,
  type FileEntry,
  getAssistantFile,
  getAssistantFileArchive,
  getAssistantFileContent,
  getSessionFile,
  getSessionFileArchive,
  getSessionFileContent,
  listAssistantFiles,
  listSessionFiles,
  type MoveSessionFileData,
  moveAssistantFile,
  moveSessionFile,
} from '../gen/index.ts';
import { type ByteRange, rangeOptions, unwrapBlob } from './byte-range.ts';
import { API_BASE, unwrapData, unwrapPage } from './client.ts';

/** The workspace of a session or of an assistant. */
export interface WorkspaceRef {
  kind: 'session' | 'assistant';
  id: string;
}

/** Maximum size of one content response, in bytes. */
export const MAX_RANGE_BYTES = 64 * 1024 * 1024;
const PAGE_SIZE = 100;

const isSession = ({ kind }: WorkspaceRef) => kind === 'session';
const sessionPath = ({ id }: WorkspaceRef) => ({ path: { session_id: id } });
const assistantPath = ({ id }: WorkspaceRef) => ({ path: { assistant_id: id } });
const queryKeyOf = ({ kind, id }: WorkspaceRef, ...rest: readonly unknown[]) => ['files', kind, id, ...rest];

/** Returns the path of a file route below /api/v1. `suffix` is the part after `/files`. */
export function fileRoute(workspace: WorkspaceRef, suffix = '', path?: string): string {
  const query = path === undefined ? '' : `?path=${encodeURIComponent(path)}`;
  return `/${workspace.kind}s/${encodeURIComponent(workspace.id)}/files${suffix}${query}`;
}

/** Queries and mutations of the files of a workspace. Query keys begin with `files`. */
export const files = {
  contentUrl: (workspace: WorkspaceRef, path: string) => API_BASE + fileRoute(workspace, '/content', path),
  archiveUrl: (workspace: WorkspaceRef, path: string) =>
    API_BASE + fileRoute(workspace, '/archive', path || undefined),
  /** A page of the entries of a directory. An empty path means the root of the workspace. */
  page: (workspace: WorkspaceRef, path: string, cursor: string | undefined) =>
    queryOptions({
      queryKey: queryKeyOf(workspace, 'list', path, cursor),
      queryFn: ({ signal }) => {
        const options = { query: { path: path || undefined, cursor, limit: PAGE_SIZE }, signal };
        return unwrapPage(
          isSession(workspace)
            ? listSessionFiles({ ...sessionPath(workspace), ...options })
            : listAssistantFiles({ ...assistantPath(workspace), ...options }),
        );
      },
    }),
  /** The entry at a path. A different `revision` requests it again. */
  entry: (workspace: WorkspaceRef, path: string, revision: number) =>
    queryOptions({
      queryKey: queryKeyOf(workspace, 'entry', path, revision),
      queryFn: ({ signal }) => {
        const options = { query: { path }, signal };
        return unwrapData(
          isSession(workspace)
            ? getSessionFile({ ...sessionPath(workspace), ...options })
            : getAssistantFile({ ...assistantPath(workspace), ...options }),
        );
      },
    }),
  /**
   * A value that `read` derives from the content of a file, cached without expiry under the content's digest. `kind` names
   * the derived value.
   */
  content: <Value>(
    workspace: WorkspaceRef,
    { path, sha256 }: FileEntry,
    kind: string,
    read: (signal: AbortSignal) => Promise<Value>,
  ) =>
    queryOptions({
      queryKey: queryKeyOf(workspace, kind, path, sha256),
      queryFn: ({ signal }) => read(signal),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  /** Reads `length` bytes of a file from offset `first`, or fewer at the end of the file. */
  readRange(workspace: WorkspaceRef, path: string, range: ByteRange, signal: AbortSignal): Promise<Blob> {
    const options = { query: { path }, ...rangeOptions(range), signal };
    return unwrapBlob(
      isSession(workspace)
        ? getSessionFileContent({ ...sessionPath(workspace), ...options })
        : getAssistantFileContent({ ...assistantPath(workspace), ...options }),
    );
  },
  /** Fails with NAME_TAKEN when the target exists and `body` does not allow overwriting. */
  move: (workspace: WorkspaceRef, body: MoveSessionFileData['body']) =>
    unwrapData(
      isSession(workspace)
        ? moveSessionFile({ ...sessionPath(workspace), body })
        : moveAssistantFile({ ...assistantPath(workspace), body }),
    ),
  makeDirectory: (workspace: WorkspaceRef, path: string) =>
    unwrapData(
      isSession(workspace)
        ? createSessionDirectory({ ...sessionPath(workspace), body: { path } })
        : createAssistantDirectory({ ...assistantPath(workspace), body: { path } }),
    ),
  remove: (workspace: WorkspaceRef, path: string) =>
    unwrapData(
      isSession(workspace)
        ? deleteSessionFile({ ...sessionPath(workspace), query: { path } })
        : deleteAssistantFile({ ...assistantPath(workspace), query: { path } }),
    ),
  /** Throws the error that a download of the directory would cause, without downloading it. */
  async checkArchive(workspace: WorkspaceRef, path: string): Promise<void> {
    const download = new AbortController();
    const options = {
      query: { path: path || undefined },
      parseAs: 'stream' as const,
      signal: download.signal,
    };
    const result = await (isSession(workspace)
      ? getSessionFileArchive({ ...sessionPath(workspace), ...options })
      : getAssistantFileArchive({ ...assistantPath(workspace), ...options }));
    await unwrapData(Promise.resolve({ ...result, data: result.data && { data: true } }));
    download.abort();
  },
};
