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
import { API, ask, askPage } from './client.ts';

/** Whose workspace it is. */
export interface Place {
  kind: 'session' | 'assistant';
  id: string;
}

/** Of a file, in bytes. */
export interface Part {
  first: number;
  length: number;
}

/** In bytes, of one answer with content. */
export const MOST_AT_ONCE = 64 * 1024 * 1024;
const PAGE = 100;

const isSession = ({ kind }: Place) => kind === 'session';
const ofSession = ({ id }: Place) => ({ path: { session_id: id } });
const ofAssistant = ({ id }: Place) => ({ path: { assistant_id: id } });
const keyOf = ({ kind, id }: Place, ...rest: readonly unknown[]) => ['files', kind, id, ...rest];

/** Where a request about files goes, below /api/v1. */
export function fileRoute(place: Place, rest = '', path?: string): string {
  const query = path === undefined ? '' : `?path=${encodeURIComponent(path)}`;
  return `/${place.kind}s/${encodeURIComponent(place.id)}/files${rest}${query}`;
}

/** What can be seen of the files of a workspace, and done with them. Keys begin with `files`. */
export const files = {
  contentUrl: (place: Place, path: string) => API + fileRoute(place, '/content', path),
  archiveUrl: (place: Place, path: string) => API + fileRoute(place, '/archive', path || undefined),
  /** A page of what is in a directory; of the workspace itself, with an empty path. */
  page: (place: Place, path: string, cursor: string | undefined) =>
    queryOptions({
      queryKey: keyOf(place, 'list', path, cursor),
      queryFn: ({ signal }) => {
        const how = { query: { path: path || undefined, cursor, limit: PAGE }, signal };
        return askPage(
          isSession(place)
            ? listSessionFiles({ ...ofSession(place), ...how })
            : listAssistantFiles({ ...ofAssistant(place), ...how }),
        );
      },
    }),
  /** What stands at a path. With another `round` it is asked for again. */
  one: (place: Place, path: string, round: number) =>
    queryOptions({
      queryKey: keyOf(place, 'entry', path, round),
      queryFn: ({ signal }) => {
        const how = { query: { path }, signal };
        return ask(
          isSession(place)
            ? getSessionFile({ ...ofSession(place), ...how })
            : getAssistantFile({ ...ofAssistant(place), ...how }),
        );
      },
    }),
  /** What `read` makes of a file. Nothing else is ever made of the same content. */
  content: <Made>(
    place: Place,
    { path, sha256 }: FileEntry,
    made: string,
    read: (signal: AbortSignal) => Promise<Made>,
  ) =>
    queryOptions({
      queryKey: keyOf(place, made, path, sha256),
      queryFn: ({ signal }) => read(signal),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  /** A part of a file: `length` bytes from `first` on, as far as there are any. */
  async read(place: Place, path: string, part: Part, signal: AbortSignal): Promise<Blob> {
    const { first, length } = part;
    const headers = { Range: `bytes=${first}-${first + length - 1}` };
    const how = { query: { path }, headers, parseAs: 'blob' as const, signal };
    const { data, ...answer } = await (isSession(place)
      ? getSessionFileContent({ ...ofSession(place), ...how })
      : getAssistantFileContent({ ...ofAssistant(place), ...how }));
    return ask(Promise.resolve({ ...answer, data: data && { data } }));
  },
  /** Refused with NAME_TAKEN when something is there, unless it may be overwritten. */
  move: (place: Place, body: MoveSessionFileData['body']) =>
    ask(
      isSession(place)
        ? moveSessionFile({ ...ofSession(place), body })
        : moveAssistantFile({ ...ofAssistant(place), body }),
    ),
  makeDirectory: (place: Place, path: string) =>
    ask(
      isSession(place)
        ? createSessionDirectory({ ...ofSession(place), body: { path } })
        : createAssistantDirectory({ ...ofAssistant(place), body: { path } }),
    ),
  remove: (place: Place, path: string) =>
    ask(
      isSession(place)
        ? deleteSessionFile({ ...ofSession(place), query: { path } })
        : deleteAssistantFile({ ...ofAssistant(place), query: { path } }),
    ),
  /** Fails as the download of a directory would, without downloading it. */
  async checkArchive(place: Place, path: string): Promise<void> {
    const leaving = new AbortController();
    const how = { query: { path: path || undefined }, parseAs: 'stream' as const, signal: leaving.signal };
    const answer = await (isSession(place)
      ? getSessionFileArchive({ ...ofSession(place), ...how })
      : getAssistantFileArchive({ ...ofAssistant(place), ...how }));
    await ask(Promise.resolve({ ...answer, data: answer.data && { data: true } }));
    leaving.abort();
  },
};
