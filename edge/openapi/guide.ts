import { API_PREFIX } from '../register-route.ts';
import { isRaw } from '../route.ts';
import { ROUTES } from '../routes.ts';

/** A short guide for language models (https://llmstxt.org). */
export function renderGuide(origin: string): string {
  const operations = ROUTES.filter((route) => !isRaw(route) || !route.atRoot).map(
    ({ method, path, summary }) => `- \`${method} ${API_PREFIX}${path}\`: ${summary}`,
  );
  return `# Agent Hosting Service

> Hosts agents. A conversation or a signed webhook creates a session, in which an agent works turn by turn. Everything that
> happens in a session is an event of its journal.

- Base URL: ${origin}${API_PREFIX}
- Every JSON response is \`{"code", "message", "data"}\`; errors have \`error\` with \`code\`, \`retryable\` and \`owner\`.
- In team mode (\`SERVICE_AUTH_MODE=oidc\`), send a personal access token as \`Authorization: Bearer …\`. Local mode needs no credential.
- Lists have \`page.next_cursor\`; send it as \`cursor\` to get the next page.
- [Full description](${origin}/openapi.json): OpenAPI 3.1

## Operations

${operations.join('\n')}

## Ways to create a session

- \`POST ${API_PREFIX}/agents/{agent_id}/conversations\`: a conversation with an agent
- \`POST ${API_PREFIX}/assistants/{assistant_id}/conversations\`: a conversation with an assistant
- \`POST ${API_PREFIX}/sessions/{session_id}/fork\`: a conversation of the same agent that begins with existing history
- \`POST ${API_PREFIX}/deployments/{deployment_id}/trigger\`: a signed webhook

## Notes

- Upload files as a multipart form, or one file as the body with \`?path=\`.
- Resume an event stream with the header \`Last-Event-ID\`.

## Quickstart

1. \`POST ${API_PREFIX}/agents\` with \`{"name": "Echo", "model": "rehearsal/echo"}\` returns \`data.agent_id\`.
2. \`POST ${API_PREFIX}/agents/{agent_id}/conversations\` with \`{"message": "Hello"}\` returns \`data.session_id\`.
3. \`GET ${API_PREFIX}/sessions/{session_id}/events/stream\` streams the events until \`session.status_idle\`.
`;
}
