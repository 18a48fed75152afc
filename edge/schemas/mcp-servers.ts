import { type Static, Type } from 'typebox';
import type {
  McpCatalogueState,
  McpOAuth,
  McpServer,
  UpdateMcpServerRequest,
} from '../../proto/gen/ahs/agents/v1/agents.ts';
import {
  closed,
  count,
  flag,
  id,
  NULL,
  nullable,
  optional,
  revision,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
} from './common.ts';

export const sha256 = text('The SHA-256 of the canonical JSON (RFC 8785) of the catalogue.', {
  title: 'CatalogueSha256',
});

const identity = {
  name: text('The unique name, a part of the names of its tools.', {
    pattern: '^[a-z][a-z0-9-]{0,31}$',
    examples: ['github'],
  }),
  url: text('The URL, with https:// unless its host is in SERVICE_OUTBOUND_PRIVATE_HOSTS.', {
    maxLength: 2_048,
    examples: ['https://mcp.example.com/mcp'],
  }),
  transport: Type.Enum(['streamable_http', 'sse'], {
    description: 'The transport. `sse` is deprecated by the protocol.',
  }),
};

const settings = {
  description: text('A description for users.', { maxLength: 2_000, examples: ['Issues.'] }),
  enabled: flag('Whether its tools are offered and called.'),
  authorization: Type.Enum(['none', 'shared', 'personal', 'any'], {
    description:
      'The source of credentials: no credential, the vaults of the agent, the connection of the session owner, or that ' +
      'connection and else a vault.',
  }),
  timeout_seconds: Type.Integer({
    minimum: 1,
    maximum: 600,
    description: 'The time limit in seconds of silence and of a call without progress.',
    examples: [60],
  }),
  available_to: Type.Enum(['managers', 'administrators'], { description: 'Who can add it to an agent.' }),
  trust_annotations: flag(
    'Whether the annotations of its tools count as their effect in a review that states none. In the console they ' +
      'preselect the effect in any case.',
    false,
  ),
  offer_instructions: flag('Whether its instructions are part of the system prompt.', false),
};

const oauth = {
  client_id: optional(
    text(
      'The client that you registered at the issuer. Default: this service identifies or registers itself.',
      {
        maxLength: 2_048,
        examples: ['ahs'],
      },
    ),
  ),
  scopes: optional(
    Type.Array(text('A scope.', { maxLength: 200, examples: ['read'] }), {
      maxItems: 50,
      description: 'The scopes to request. Default: those that the server names.',
    }),
  ),
  issuer: optional(
    text("Which of the server's authorization servers counts. Default: the first one.", {
      maxLength: 2_048,
      examples: ['https://login.example.com'],
    }),
  ),
};

const OAuthSettings = closed(
  {
    ...oauth,
    client_secret: optional(
      text('The secret of the client, which no response contains. It requires `client_id` and `issuer`.', {
        maxLength: 16_384,
        writeOnly: true,
        examples: ['secret'],
      }),
    ),
  },
  { title: 'McpOAuthSettings', description: 'Settings for OAuth connections.' },
);

const OAuthShape = Type.Object(
  {
    client_id: nullable(text('The client id.', { examples: ['ahs'] }), NULL),
    scopes: Type.Array(text('A scope.', { examples: ['read'] }), { description: 'The scopes to request.' }),
    issuer: nullable(text('The issuer.', { examples: ['https://login.example.com'] }), NULL),
    has_client_secret: flag('Whether there is a client secret.', false),
  },
  { title: 'McpOAuth' },
);

const omissible = {
  description: optional(settings.description),
  enabled: optional(settings.enabled),
  authorization: optional(settings.authorization),
  timeout_seconds: optional(settings.timeout_seconds),
  available_to: optional(settings.available_to),
  trust_annotations: optional(settings.trust_annotations),
  offer_instructions: optional(settings.offer_instructions),
  oauth: optional(OAuthSettings),
};

export const McpServerCreation = closed({ ...identity, ...omissible });
export const McpServerPatch = closed(omissible);

const CatalogueState = Type.Object({
  reviewed_sha256: nullable(sha256, NULL),
  reviewed_by: nullable(id('usr', 'the user who reviewed it'), NULL),
  reviewed_at: nullable(time('The time of the newest review.'), NULL),
  tool_count: count('The tools of the reviewed catalogue.', 0),
  offered_count: count('Those of them that are offered.', 0),
  seen_sha256: nullable(sha256, NULL),
  seen_at: nullable(time('The time at which a catalogue was last read.'), NULL),
  state: Type.Enum(['unreviewed', 'current', 'changed', 'unreachable', 'unauthorized'], {
    description: 'The last seen catalogue compared with the reviewed one, or the problem of the last probe.',
  }),
});

export const McpServerShape = Type.Object(
  {
    mcp_server_id: id('mcp', 'the MCP server'),
    ...identity,
    title: text('Its own title, as reviewed. Empty: none.', { examples: ['GitHub'] }),
    ...settings,
    oauth: nullable(OAuthShape, NULL),
    catalogue: CatalogueState,
    revision,
    created_by: id('usr', 'the user who created it'),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last change or review.'),
  },
  { title: 'McpServer' },
);

/** The settings of a request; absent members are undefined. */
export function settingsOf(body: Static<typeof McpServerPatch>) {
  return {
    description: body.description,
    enabled: body.enabled,
    authorization: body.authorization,
    timeoutSeconds: body.timeout_seconds,
    availableTo: body.available_to,
    trustAnnotations: body.trust_annotations,
    offerInstructions: body.offer_instructions,
    oauth: oauthOf(body),
  } satisfies Omit<UpdateMcpServerRequest, 'mcpServerId' | 'ifRevisions' | 'clientSecret'>;
}

/** The settings for OAuth of a request, without their secret. */
function oauthOf({ oauth: given }: Pick<Static<typeof McpServerPatch>, 'oauth'>): McpOAuth | undefined {
  if (given === undefined) return undefined;
  const { client_id: clientId = '', scopes = [], issuer = '' } = given;
  return { clientId, scopes, issuer, hasClientSecret: false };
}

/** The secret of the OAuth client of a request, as the vaults service stores it. Undefined: none. */
export function clientSecretOf({ oauth: given }: Pick<Static<typeof McpServerPatch>, 'oauth'>) {
  return given?.client_secret === undefined ? undefined : { client_secret: given.client_secret };
}

/** The request to create a server, with the defaults of omitted members. */
export function createdServer(body: Static<typeof McpServerCreation>) {
  return {
    name: body.name,
    url: body.url,
    transport: body.transport,
    description: body.description ?? '',
    enabled: body.enabled ?? true,
    authorization: body.authorization ?? 'none',
    timeoutSeconds: body.timeout_seconds ?? 60,
    availableTo: body.available_to ?? 'managers',
    trustAnnotations: body.trust_annotations ?? false,
    offerInstructions: body.offer_instructions ?? false,
    oauth: oauthOf(body),
  };
}

export function serializeMcpServer(server: McpServer | undefined) {
  return {
    mcp_server_id: server?.mcpServerId,
    name: server?.name,
    url: server?.url,
    transport: server?.transport,
    title: server?.title,
    description: server?.description,
    enabled: server?.enabled,
    authorization: server?.authorization,
    timeout_seconds: server?.timeoutSeconds,
    available_to: server?.availableTo,
    trust_annotations: server?.trustAnnotations,
    offer_instructions: server?.offerInstructions,
    oauth: server?.oauth ? serializeOAuth(server.oauth) : null,
    catalogue: serializeState(server?.catalogue),
    revision: server?.revision,
    created_by: server?.createdBy,
    created_at: serializeTime(server?.createdAt),
    updated_at: serializeTime(server?.updatedAt),
  };
}

function serializeOAuth({ clientId, scopes, issuer, hasClientSecret }: McpOAuth) {
  return {
    client_id: clientId || null,
    scopes,
    issuer: issuer || null,
    has_client_secret: hasClientSecret,
  };
}

function serializeState(state: McpCatalogueState | undefined) {
  return {
    reviewed_sha256: state?.reviewedSha256 || null,
    reviewed_by: state?.reviewedBy || null,
    reviewed_at: serializeTimeOrNull(state?.reviewedAt),
    tool_count: state?.toolCount ?? 0,
    offered_count: state?.offeredCount ?? 0,
    seen_sha256: state?.seenSha256 || null,
    seen_at: serializeTimeOrNull(state?.seenAt),
    state: state?.state,
  };
}
