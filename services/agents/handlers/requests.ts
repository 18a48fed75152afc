import type {
  CreateAgentRequest,
  CreateAssistantRequest,
  CreateEnvironmentRequest,
  UpdateAgentRequest,
  UpdateAssistantRequest,
  UpdateEnvironmentRequest,
  UpdateMcpServerRequest,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { AgentForm, AgentPatch } from '../domain/agent-form.ts';
import { completeRuntime, runtimePatchIn } from '../domain/agent-runtime.ts';
import type { EnvironmentForm, EnvironmentPatch } from '../domain/environment.ts';
import { completeExposure, NOT_EXPOSED } from '../domain/exposure.ts';
import type { McpServerPatch } from '../domain/mcp-server.ts';

/**
 * The form of a request to create an agent or assistant. A missing runtime has no model, so the form's check refuses it.
 * Assistants are always private and exposed to no protocol.
 */
export function agentFormOf(request: CreateAgentRequest | CreateAssistantRequest): AgentForm {
  const { name, description, metadata, enabled, runtime } = request;
  const shared =
    'visibility' in request
      ? { visibility: request.visibility, exposure: completeExposure(request.exposure) }
      : { visibility: 'private', exposure: NOT_EXPOSED };
  // PutExtensions checks the MCP servers and skills that an agent gets.
  const extensions = { mcpServers: { ids: [] }, skills: { items: [] } };
  return { name, description, metadata, enabled, ...shared, ...completeRuntime(runtime), ...extensions };
}

/** The patch of a request to update an agent or assistant; absent fields are undefined. */
export function agentPatchOf(request: UpdateAgentRequest | UpdateAssistantRequest): AgentPatch {
  const { name, description, enabled } = request;
  const metadata = request.metadata?.entries;
  const visibility = 'visibility' in request ? request.visibility : undefined;
  const exposure = 'exposure' in request ? request.exposure : undefined;
  return { name, description, metadata, enabled, visibility, exposure, ...runtimePatchIn(request) };
}

/** The form of a request to create an environment. Missing parts are empty, so the form's check refuses them. */
export function environmentFormOf({ name, enabled, spec }: CreateEnvironmentRequest): EnvironmentForm {
  return {
    name,
    enabled,
    sandbox: spec?.sandbox ?? { provider: '', image: '', commandTimeoutSeconds: 0 },
    network: spec?.network ?? { mode: '', allowedHosts: [] },
    tenancy: spec?.tenancy ?? '',
    idle: spec?.idle ?? { timeoutSeconds: 0, action: '' },
    variables: spec?.variables ?? {},
  };
}

/** The patch of a request to update an environment; absent parts are undefined. */
export function environmentPatchOf(request: UpdateEnvironmentRequest): EnvironmentPatch {
  const { sandbox, network, tenancy, idle, enabled } = request;
  return { sandbox, network, tenancy, idle, enabled, variables: request.variables?.entries };
}

/** Names an MCP server in refusals. */
export const MCP_SERVER_NOUN = 'MCP server';

/** The patch of a request to update an MCP server, without absent members. */
export function mcpServerPatchOf(
  request: Omit<UpdateMcpServerRequest, 'mcpServerId' | 'ifRevisions' | 'clientSecret' | 'oauth'>,
): McpServerPatch {
  const { description, enabled, authorization, timeoutSeconds, availableTo } = request;
  const { trustAnnotations, offerInstructions } = request;
  const settings = { description, enabled, authorization, timeoutSeconds, availableTo };
  const members = { ...settings, trustAnnotations, offerInstructions };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
