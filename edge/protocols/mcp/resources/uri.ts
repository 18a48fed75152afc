import { isId } from '../../../../lib/ids.ts';
import { pathProblem } from '../../../../lib/paths.ts';

/** The resources of a session. A file has its path in the workspace. */
export type SessionResource = { sessionId: string } & (
  | { kind: 'transcript' }
  | { kind: 'events' }
  | { kind: 'file'; path: string }
);

const URI = /^session:\/\/\/([^/]+)\/(?:(transcript\.md)|(events\.jsonl)|files\/(.+))$/s;

/** The templates (https://www.rfc-editor.org/rfc/rfc6570) of the URIs that `parseResourceUri` reads. */
export const URI_TEMPLATES = {
  transcript: 'session:///{session_id}/transcript.md',
  events: 'session:///{session_id}/events.jsonl',
  file: 'session:///{session_id}/files/{+path}',
} as const;

export const transcriptUri = (sessionId: string) => `session:///${sessionId}/transcript.md`;

export const eventsUri = (sessionId: string) => `session:///${sessionId}/events.jsonl`;

/** The URI of a file of the workspace. The expansion of the template may leave more characters as they are. */
export const fileUri = (sessionId: string, path: string) =>
  `session:///${sessionId}/files/${path.split('/').map(encodeURIComponent).join('/')}`;

/** Returns undefined for a URI that no resource can have. */
export function parseResourceUri(uri: string): SessionResource | undefined {
  const [, sessionId = '', transcript, events, encodedPath] = URI.exec(uri) ?? [];
  if (!isId('ses', sessionId)) return undefined;
  if (transcript !== undefined) return { sessionId, kind: 'transcript' };
  if (events !== undefined) return { sessionId, kind: 'events' };
  const path = decodedPath(encodedPath ?? '');
  return path === undefined ? undefined : { sessionId, kind: 'file', path };
}

function decodedPath(encoded: string): string | undefined {
  try {
    const path = decodeURIComponent(encoded);
    return pathProblem(path) === undefined ? path : undefined;
  } catch {
    return undefined;
  }
}
