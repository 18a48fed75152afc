import { once } from '../../../lib/once.ts';
import { type RawRoute, route } from '../../route.ts';

/** The library is loaded with the first request. */
const loadServing = once(() => import('./serve.ts'));

const MESSAGE = {
  type: 'object',
  required: ['jsonrpc'],
  properties: { jsonrpc: { const: '2.0' } },
  additionalProperties: true,
  description: 'A JSON-RPC message of the Model Context Protocol, revision 2026-07-28 or 2025-11-25.',
  externalDocs: { url: 'https://modelcontextprotocol.io/specification/2026-07-28/basic/transports' },
};
const REQUEST = { schema: MESSAGE, example: { jsonrpc: '2.0', id: 1, method: 'tools/list' } };
const RESPONSE = { schema: MESSAGE, example: { jsonrpc: '2.0', id: 1, result: { tools: [] } } };

const mcpRoute = ({
  path,
  operationId,
  summary,
  description,
  ...rest
}: Pick<RawRoute, 'path' | 'operationId' | 'summary' | 'description' | 'errors'> & { alsoAtRoot?: true }) =>
  route.raw({
    method: 'POST',
    path,
    operationId,
    tag: 'Protocols',
    summary,
    description:
      `${description} The body is one message of the Model Context Protocol (https://modelcontextprotocol.io), which describes ` +
      'the methods and their results. Clients of the revisions 2026-07-28 and 2025-11-25 use the same URL, and no state is kept ' +
      'between requests. Errors have the form of JSON-RPC, with our error code in `error.data.code`.',
    access: 'mcp',
    requestBody: { required: true, content: { 'application/json': REQUEST } },
    responses: {
      200: {
        description: 'The result, or an error of the method. As a stream, progress comes before it.',
        headers: ['X-Accel-Buffering'],
        content: {
          'application/json': RESPONSE,
          'text/event-stream': RESPONSE,
        },
      },
      202: { description: 'The notification was received.' },
    },
    config: { protocol: 'mcp', longLived: true },
    createHandler(context) {
      return async (request, reply) => {
        const { serveMcp } = await loadServing();
        const { agent_id: agentId } = request.params as { agent_id?: string };
        return serveMcp(context, request, reply, agentId);
      };
    },
    ...rest,
  });

/** The Model Context Protocol. The server offers no stream for GET and has no sessions to DELETE. */
export const mcpRoutes = [
  mcpRoute({
    path: '/mcp',
    alsoAtRoot: true,
    operationId: 'mcp',
    summary: 'Model Context Protocol',
    description:
      'Offers all agents that you may use and that are exposed to MCP. The same endpoint is at `/mcp` of the origin.',
    errors: ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
  }),
  mcpRoute({
    path: '/mcp/agents/{agent_id}',
    operationId: 'mcpOfAgent',
    summary: 'Model Context Protocol with one agent',
    description: 'Offers this agent only, and your sessions with it.',
    errors: ['AGENT_NOT_FOUND', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
  }),
];
