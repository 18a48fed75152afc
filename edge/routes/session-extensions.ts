import { ok } from '../envelope.ts';
import { route } from '../route.ts';
import { SessionExtensionsShape, serializeSessionExtensions } from '../schemas/session-extensions.ts';

export const sessionExtensionRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/extensions',
    operationId: 'getSessionExtensions',
    tag: 'Sessions',
    summary: 'Get the extensions of a session',
    description:
      'Returns the MCP servers and skills of the agent version of the session, and the environment variables that shared vaults give to its sandbox, each with its current state. While credentials cannot be read, it returns what is known without them.',
    success: { status: 200, description: 'The extensions.', data: SessionExtensionsShape },
    errors: ['SESSION_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const request = { sessionId: param('session_id') };
      return ok(serializeSessionExtensions(await clients.sessions.getSessionExtensions(request, call)));
    },
  }),
];
