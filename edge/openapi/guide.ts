import { AI_STREAM_PATH } from '../ai-stream/route.ts';
import { FILE_PLACES } from '../files/places.ts';
import { CALLBACK_PATH, LOGIN_PATH } from '../routes/auth/login.ts';
import { EXPORT_PATH } from '../routes/export.ts';
import { ARCHIVE_PATH } from '../routes/files/archive.ts';
import { CONTENT_PATH } from '../routes/files/content.ts';
import { UPLOAD_PATH } from '../routes/files/upload.ts';
import { STREAM_PATH } from '../routes/stream.ts';
import { TRIGGER_PATH } from '../routes/trigger.ts';
import { ROUTES } from '../routes.ts';
import { API } from '../serve.ts';

/** A short guide for language models (https://llmstxt.org). */
export function renderGuide(origin: string): string {
  const operations = ROUTES.map(({ method, path, summary }) => `- \`${method} ${API}${path}\`: ${summary}`);
  const files = FILE_PLACES.flatMap(({ path, owner }) => [
    `- \`POST ${API}${path}${UPLOAD_PATH}\`: Upload files of ${owner} (a form, or one file as the body with \`?path=\`)`,
    `- \`GET ${API}${path}${CONTENT_PATH}\`: Download a file of ${owner}`,
    `- \`GET ${API}${path}${ARCHIVE_PATH}\`: Download a directory of ${owner} as a tar archive`,
  ]);
  return `# Agent Hosting Service

> Hosts Agents. A conversation or a signed webhook starts a Session, in which an Agent works turn by turn. Everything
> it does is an event in the Session's journal.

- Base URL: ${origin}${API}
- Every JSON answer is \`{"code", "message", "data"}\`; errors have \`error\` with \`code\`, \`retryable\` and \`owner\`.
- Where people log in, send a personal access token as \`Authorization: Bearer …\`. In local mode none is needed.
- Lists have \`page.next_cursor\`; hand it over as \`cursor\`.
- [Full description](${origin}/openapi.json): OpenAPI 3.1

## Operations

${operations.join('\n')}
${files.join('\n')}
- \`GET ${API}${STREAM_PATH}\`: Follow a session's events (Server-Sent Events; join again with Last-Event-ID)
- \`GET ${API}${EXPORT_PATH}\`: Export a session's journal as JSON lines
- \`POST ${API}${AI_STREAM_PATH}\`: Send a message and stream the turn to AI SDK (UI Message Stream v1)
- \`GET ${API}${AI_STREAM_PATH}\`: Stream the turn that is under way to AI SDK
- \`GET ${API}${LOGIN_PATH}\`: Log in with a browser
- \`GET ${API}${CALLBACK_PATH}\`: Come back from the identity provider
- \`POST ${API}${TRIGGER_PATH}\`: Start a session with a signed webhook

## To begin

1. \`POST ${API}/agents\` with \`{"name": "Echo", "model": "rehearsal/echo"}\` gives \`data.agent_id\`.
2. \`POST ${API}/agents/{agent_id}/conversations\` with \`{"message": "Hello"}\` gives \`data.session_id\`.
3. \`GET ${API}/sessions/{session_id}/events/stream\` shows what happens, until \`session.status_idle\`.
`;
}
