import { AgentCard, type SecurityRequirement, type SecurityScheme } from '@a2a-js/sdk';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../../lib/errors.ts';
import { IMAGE_MEDIA_TYPES } from '../../../lib/part-limits.ts';
import type { GetPublicCardResponse } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { callOf } from '../../authentication/authenticator.ts';
import { checkPath } from '../../input/path.ts';
import { anonymousCall } from '../../register-route.ts';
import type { RouteContext } from '../../route.ts';
import { requireExposedAgent } from '../exposure.ts';
import { sendJson } from '../openai/send-json.ts';

const MAX_AGE_SECONDS = 60;
const INPUTS = ['text/plain', 'application/json', ...IMAGE_MEDIA_TYPES, 'application/pdf'];
const OUTPUTS = ['text/plain', 'application/json', 'application/octet-stream'];

/** Answers the request for an agent card: without credentials only if anyone can read it. */
export async function sendCard(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { agent_id: agentId = '' } = request.params as { agent_id?: string };
  checkPath({ agent_id: agentId });
  const { agents } = context.clients;
  const card = await agents.getPublicCard({ agentId }, anonymousCall(request, reply)).catch(ifNotPublic);
  if (!card) await context.authenticator.authorize(request, reply);
  const agent = card ?? (await requireExposedAgent(context.clients, callOf(request), agentId, 'a2a'));
  reply.header('cache-control', `${card ? 'public' : 'private'}, max-age=${MAX_AGE_SECONDS}`);
  return sendJson(reply, AgentCard.toJSON(await cardOf(context, request, agent)) as object);
}

function ifNotPublic(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== 'AGENT_NOT_FOUND') throw error;
}

async function cardOf(
  context: RouteContext,
  request: FastifyRequest,
  { agentId, name, description, version }: GetPublicCardResponse,
): Promise<AgentCard> {
  const path = `/api/v1/a2a/${agentId}`;
  const about = description === '' ? name : description;
  return {
    ...{ name, description: about, version: String(version), provider: undefined, signatures: [] },
    supportedInterfaces: [
      {
        url: context.publicOrigin() + path,
        ...{ protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
      },
    ],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    ...(await securityOf(context, request, path)),
    ...{ defaultInputModes: INPUTS, defaultOutputModes: OUTPUTS },
    skills: [
      {
        ...{ id: 'conversation', name, description: about, tags: ['conversation'], examples: [] },
        ...{ inputModes: [], outputModes: [], securityRequirements: [] },
      },
    ],
  };
}

/** A token, or an access token of the identity provider if the service accepts those. */
async function securityOf({ authenticator }: RouteContext, request: FastifyRequest, path: string) {
  const securitySchemes: Record<string, SecurityScheme> = {};
  const securityRequirements: SecurityRequirement[] = [];
  const add = (name: string, scheme: SecurityScheme['scheme'], list: string[]) => {
    securitySchemes[name] = { scheme };
    securityRequirements.push({ schemes: { [name]: { list } } });
  };
  if (authenticator.mode === 'local') return { securitySchemes, securityRequirements };
  const description = 'A personal access token with the scope mcp or write.';
  const bearer = { description, scheme: 'Bearer', bearerFormat: '' };
  add('bearer', { $case: 'httpAuthSecurityScheme', value: bearer }, []);
  const { trace } = request.span;
  const provider = await authenticator.resources.metadata(path, { trace, requestId: request.id });
  const [issuer] = provider?.authorization_servers ?? [];
  if (provider && issuer !== undefined) {
    const openIdConnectUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const value = { description: 'An access token of the identity provider.', openIdConnectUrl };
    add(
      'openIdConnect',
      { $case: 'openIdConnectSecurityScheme', value },
      provider.scopes_supported.slice(0, 1),
    );
  }
  return { securitySchemes, securityRequirements };
}
