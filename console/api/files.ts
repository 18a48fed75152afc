import {
  createAssistantDirectory,
  createSessionDirectory,
  deleteAssistantFile,
  deleteSessionFile,
  type FileEntry,
  getAssistantFileArchive,
  getAssistantFileContent,
  getSessionFileArchive,
  getSessionFileContent,
  listAssistantFiles,
  listSessionFiles,
  type MoveSessionFileData,
  moveAssistantFile,
  moveSessionFile,
} from '../gen/index.ts';
import { API, ask, askPage } from './client.ts';
import type { ListPage } from './pages.ts';

/** Whose workspace it is. */
export interface Place {
  kind: 'session' | 'assistant';
  id: string;
}

/** In bytes, of one answer with content. */
export const MOST_AT_ONCE = 64 * 1024 * 1024;
const PAGE = 100;

const ofSession = ({ id }: Place) => ({ path: { session_id: id } });
const ofAssistant = ({ id }: Place) => ({ path: { assistant_id: id } });
const isSession = ({ kind }: Place) => kind === 'session';

/** Where a request about files goes, below /api/v1. */
export function fileRoute(place: Place, rest = '', path?: string): string {
  const query = path === undefined ? '' : `?path=${encodeURIComponent(path)}`;
  return `/${place.kind}s/${encodeURIComponent(place.id)}/files${rest}${query}`;
}

export const contentUrl = (place: Place, path: string) => API + fileRoute(place, '/content', path);
export const archiveUrl = (place: Place, path: string) =>
  API + fileRoute(place, '/archive', path === '' ? undefined : path);

/** What is in a directory; of the workspace itself, with an empty path. */
export function listDirectory(
  place: Place,
  path: string,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<ListPage<FileEntry>> {
  const query = { path: path || undefined, cursor, limit: PAGE };
  return askPage(
    isSession(place)
      ? listSessionFiles({ ...ofSession(place), query, signal: signal ?? null })
      : listAssistantFiles({ ...ofAssistant(place), query, signal: signal ?? null }),
  );
}

/** Refused with NAME_TAKEN when something is there, unless it may be overwritten. */
export const moveFile = (place: Place, body: MoveSessionFileData['body']) =>
  ask(
    isSession(place)
      ? moveSessionFile({ ...ofSession(place), body })
      : moveAssistantFile({ ...ofAssistant(place), body }),
  );

export const makeDirectory = (place: Place, path: string) =>
  ask(
    isSession(place)
      ? createSessionDirectory({ ...ofSession(place), body: { path } })
      : createAssistantDirectory({ ...ofAssistant(place), body: { path } }),
  );

export const deleteFile = (place: Place, path: string) =>
  ask(
    isSession(place)
      ? deleteSessionFile({ ...ofSession(place), query: { path } })
      : deleteAssistantFile({ ...ofAssistant(place), query: { path } }),
  );

/** A part of a file: `length` bytes from `first` on, as far as there are any. */
export async function readFile(
  place: Place,
  path: string,
  { first, length }: { first: number; length: number },
  signal?: AbortSignal,
): Promise<Blob> {
  return (await readPart(place, path, `bytes=${first}-${first + length - 1}`, signal)).blob;
}

/** What is known of a file that is in no list that has been read. */
export async function describeFile(
  place: Place,
  path: string,
  signal?: AbortSignal,
): Promise<Pick<FileEntry, 'size' | 'sha256' | 'media_type'>> {
  const { headers, blob } = await readPart(place, path, 'bytes=0-0', signal);
  return {
    size: Number(headers.get('content-range')?.split('/').at(-1) ?? blob.size),
    sha256: headers.get('etag')?.replaceAll('"', '') ?? null,
    media_type: headers.get('content-type'),
  };
}

async function readPart(place: Place, path: string, range: string, signal?: AbortSignal) {
  const how = {
    query: { path },
    headers: { Range: range },
    parseAs: 'blob' as const,
    signal: signal ?? null,
  };
  const { data, ...rest } = await (isSession(place)
    ? getSessionFileContent({ ...ofSession(place), ...how })
    : getAssistantFileContent({ ...ofAssistant(place), ...how }));
  const { response } = rest;
  const blob = await ask(Promise.resolve({ ...rest, data: data && { data } }));
  return { blob, headers: response?.headers ?? new Headers() };
}

/** Fails as the download of a directory would, without downloading it. */
export async function checkArchive(place: Place, path: string): Promise<void> {
  const leaving = new AbortController();
  const how = { query: { path: path || undefined }, parseAs: 'stream' as const, signal: leaving.signal };
  const answer = await (isSession(place)
    ? getSessionFileArchive({ ...ofSession(place), ...how })
    : getAssistantFileArchive({ ...ofAssistant(place), ...how }));
  await ask(Promise.resolve({ ...answer, data: answer.data && { data: true } }));
  leaving.abort();
}
