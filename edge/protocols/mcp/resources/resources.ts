import type { Server } from '@modelcontextprotocol/server';
import { refuse } from '../../../../lib/errors.ts';
import type { CallOptions } from '../../../../lib/grpc/contract.ts';
import type { Session } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../../../clients.ts';
import type { McpOperation } from '../operation.ts';
import { readResource } from './read-resource.ts';
import { resourceError } from './resource-error.ts';
import { parseResourceUri, transcriptUri, URI_TEMPLATES } from './uri.ts';

/** What the resources of a request are made of. */
export interface ResourceContext extends Pick<McpOperation, 'outcome' | 'requestId'> {
  clients: Pick<Clients, 'sessions' | 'files'>;
  call: CallOptions;
  /** Refuses with SESSION_NOT_FOUND unless the session belongs to the caller and to an agent of this endpoint. */
  findSession(sessionId: string): Promise<Session>;
  /** The sessions of the caller with the agents of this endpoint, newest first. */
  newestSessions(limit: number): Promise<Session[]>;
}

const LISTED_SESSIONS = 50;

const TEMPLATES = [
  {
    name: 'transcript',
    title: 'Transcript of a session',
    uriTemplate: URI_TEMPLATES.transcript,
    description: 'The messages as Markdown, at most 4 MiB.',
    mimeType: 'text/markdown',
  },
  {
    name: 'events',
    title: 'Events of a session',
    uriTemplate: URI_TEMPLATES.events,
    description: 'The journal, one event per line, at most 4 MiB.',
    mimeType: 'application/x-ndjson',
  },
  {
    name: 'file',
    title: 'File of a session',
    uriTemplate: URI_TEMPLATES.file,
    description: 'A file of the workspace, at most 4 MiB.',
  },
];

/** Serves the sessions of the caller as resources. */
export function serveResources(server: Server, context: ResourceContext): void {
  server.setRequestHandler('resources/list', async () => {
    try {
      return { resources: (await context.newestSessions(LISTED_SESSIONS)).map(transcriptOf) };
    } catch (error) {
      throw resourceError(context, error);
    }
  });
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    try {
      const resource = parseResourceUri(uri);
      if (!resource) throw refuse('FILE_NOT_FOUND', 'The URI is not that of a resource.');
      const session = await context.findSession(resource.sessionId);
      return { contents: [{ uri, ...(await readResource(context, session, resource)) }] };
    } catch (error) {
      throw resourceError(context, error, uri);
    }
  });
}

function transcriptOf({ sessionId, title, state, updatedAt }: Session) {
  return {
    uri: transcriptUri(sessionId),
    name: sessionId,
    title: title || sessionId,
    description: `Transcript of a session${state === '' ? '' : ` (${state})`}.`,
    mimeType: 'text/markdown',
    ...(updatedAt && { annotations: { lastModified: updatedAt.toISOString() } }),
  };
}
