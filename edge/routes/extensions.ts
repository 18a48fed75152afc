import { ok } from '../envelope.ts';
import { ifMatch } from '../input/headers.ts';
import { route } from '../route.ts';
import {
  AgentExtensionsShape,
  AssistantExtensionsShape,
  ExtensionsChange,
  serializeExtensions,
} from '../schemas/extensions.ts';
import { etag } from './etag.ts';

const KINDS = [
  {
    noun: 'agent',
    name: 'Agent',
    tag: 'Agents',
    code: 'AGENT_NOT_FOUND',
    data: AgentExtensionsShape,
  },
  {
    noun: 'assistant',
    name: 'Assistant',
    tag: 'Assistants',
    code: 'ASSISTANT_NOT_FOUND',
    data: AssistantExtensionsShape,
  },
] as const;

/** The MCP servers and skills of agents and assistants. */
export const extensionRoutes = KINDS.flatMap(({ noun, name, tag, code, data }) => {
  const article = noun === 'agent' ? 'an agent' : 'an assistant';
  const path = `/${noun}s/{${noun}_id}/extensions`;
  const identify = (agentId: string, version: number | undefined) =>
    noun === 'agent' ? { agent_id: agentId, version } : { assistant_id: agentId };
  return [
    route({
      method: 'GET',
      path,
      operationId: `get${name}Extensions`,
      tag,
      summary: `Get the extensions of ${article}`,
      description: `The ETag is the \`revision\` of the ${noun}, for \`If-Match\`.`,
      headers: ['If-Match'],
      success: { status: 200, description: 'The extensions.', data, headers: ['ETag'] },
      errors: [code],
      async answer({ clients, call, param }) {
        const agentId = param(`${noun}_id`);
        const { extensions } = await clients.agents.getExtensions({ agentId }, call);
        const shown = { ...identify(agentId, extensions?.version), ...serializeExtensions(extensions) };
        return ok(shown, etag(extensions?.revision));
      },
    }),

    route({
      method: 'PUT',
      path,
      operationId: `put${name}Extensions`,
      tag,
      summary: `Set the extensions of ${article}`,
      description:
        `Requires manage access. Replaces the MCP servers and skills of the ${noun}. A change creates a new version. With \`If-Match\`, the ` +
        `request fails if the ${noun} has changed since.`,
      headers: ['If-Match'],
      body: ExtensionsChange,
      example: {
        mcp_server_ids: ['mcp_01KAK3V9Q6W1X2Y3Z4A5B6C7D8'],
        skill_ids: ['skl_01KAK3V9Q6W1X2Y3Z4A5B6C7D8@1'],
      },
      success: { status: 200, description: 'The new extensions.', data, headers: ['ETag'] },
      errors: ['FORBIDDEN', code, 'MCP_SERVER_NOT_FOUND', 'SKILL_NOT_FOUND', 'SKILL_VERSION_NOT_FOUND'],
      async answer({ clients, call, param, body, request }) {
        const agentId = param(`${noun}_id`);
        const skills = body.skill_ids && { ids: body.skill_ids };
        const servers = { mcpServerIds: body.mcp_server_ids };
        const change = { agentId, ...servers, skills, ifRevisions: ifMatch(request.raw) };
        const { extensions } = await clients.agents.putExtensions(change, call);
        const shown = { ...identify(agentId, extensions?.version), ...serializeExtensions(extensions) };
        return ok(shown, etag(extensions?.revision));
      },
    }),
  ];
});
