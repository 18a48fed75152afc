import { queryOptions } from '@tanstack/react-query';
import {
  type AgentExtensions,
  type AssistantExtensions,
  getAgentExtensions,
  getAssistantExtensions,
  putAgentExtensions,
  putAssistantExtensions,
} from '../gen/index.ts';
import { unwrapData } from './client.ts';

/** An agent or an assistant. */
export type ExtensionsTarget = { agentId: string } | { assistantId: string };

export type Extensions = AgentExtensions | AssistantExtensions;

/** API path below /api/v1. */
export const extensionsPath = (target: ExtensionsTarget) =>
  'agentId' in target
    ? `/agents/${target.agentId}/extensions`
    : `/assistants/${target.assistantId}/extensions`;

/** MCP servers and skills, the latter with or without a version: `skl_…` or `skl_…@3`. */
export interface ExtensionsChange {
  mcp_server_ids: string[];
  /** Omitted: the skills stay. */
  skill_ids?: string[];
}

/** The MCP servers and skills of agents and assistants. */
export const extensions = {
  of: (target: ExtensionsTarget) =>
    queryOptions({
      queryKey:
        'agentId' in target
          ? ['agents', target.agentId, 'extensions']
          : ['assistants', target.assistantId, 'extensions'],
      queryFn: ({ signal }): Promise<Extensions> =>
        'agentId' in target
          ? unwrapData(getAgentExtensions({ path: { agent_id: target.agentId }, signal }))
          : unwrapData(getAssistantExtensions({ path: { assistant_id: target.assistantId }, signal })),
    }),
  put: (target: ExtensionsTarget, revision: number, body: ExtensionsChange): Promise<Extensions> => {
    const request = { body, headers: { 'If-Match': `"${revision}"` } };
    return 'agentId' in target
      ? unwrapData(putAgentExtensions({ path: { agent_id: target.agentId }, ...request }))
      : unwrapData(putAssistantExtensions({ path: { assistant_id: target.assistantId }, ...request }));
  },
};
