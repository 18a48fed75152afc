import { type TSchema, Type } from 'typebox';
import { type Catalogue, readCatalogue } from '../../lib/mcp-catalogue/catalogue.ts';
import type {
  GetCatalogueResponse,
  McpToolWarning,
  ProbeMcpServerResponse,
} from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AnyObject, closed, count, flag, NULL, nullable, optional, text } from './common.ts';
import { sha256 } from './mcp-servers.ts';

const toolName = text('The name of the tool at the server.', { title: 'McpToolName', examples: ['find'] });
const WARNINGS = ['invisible_characters', 'control_characters', 'instructions', 'other_tool_name'];

const Warning = Type.Object(
  {
    kind: Type.Enum(WARNINGS, { description: 'The suspicion, which proves nothing.' }),
    pointer: text('The text, as a JSON Pointer into the tool or the catalogue.', {
      examples: ['/description'],
    }),
  },
  { title: 'CatalogueWarning' },
);

const members = {
  name: toolName,
  title: text('The title. Empty: none.'),
  description: text('The description for models.'),
  input_schema: AnyObject('The JSON Schema of the input.', 'McpToolSchema'),
  output_schema: nullable(AnyObject('The JSON Schema of the input.', 'McpToolSchema'), NULL),
  annotations: AnyObject('The hints of the server, which prove nothing.'),
  warnings: Type.Array(Warning, { examples: [[]] }),
};

const rule = {
  offered: flag('Whether models see the tool.'),
  permission: Type.Enum(['allow', 'ask', 'deny'], {
    description: 'The permission. The stricter one of this and of the agent counts.',
  }),
  effect: Type.Enum(['read', 'idempotent', 'once'], { description: 'What happens when a call is repeated.' }),
};

const requestedRule = {
  ...rule,
  effect: optional(
    Type.Enum(['read', 'idempotent', 'once'], {
      description:
        'What happens when a call is repeated. Omitted: `once`, or what the annotations of the tool state if the server has ' +
        '`trust_annotations`.',
    }),
  ),
};

const catalogue = <Tool extends TSchema>(tool: Tool) => ({
  sha256,
  title: text('The title of the server. Empty: none.'),
  instructions: text('The instructions of the server for models. Empty: none.'),
  warnings: Type.Array(Warning, { description: 'Of title and instructions.', examples: [[]] }),
  tools: Type.Array(tool, { examples: [[]] }),
});

export const CatalogueShape = Type.Object(
  {
    ...catalogue(
      Type.Object(
        {
          ...members,
          rule: nullable(
            Type.Object(rule, { title: 'McpToolRule', description: 'The decision of the review.' }),
            { ...NULL, description: 'Null in the seen catalogue.' },
          ),
        },
        { title: 'ReviewedMcpTool' },
      ),
    ),
    offer_resources: flag(
      'Whether models can list and read its resources, with `mcp_list_resources` and `mcp_read_resource`.',
      false,
    ),
  },
  { title: 'McpCatalogue' },
);

export const CatalogueReview = closed({
  sha256,
  tools: Type.Array(closed({ name: toolName, ...requestedRule }), {
    description: 'Each tool of the catalogue exactly once, here or in `pending`.',
    maxItems: 10_000,
  }),
  pending: optional(
    Type.Array(toolName, {
      description:
        'New and changed tools that wait for a later review. A changed one keeps its reviewed texts and its rule, and is not ' +
        'called. A new one is not offered. The reviewed title and instructions are kept, too.',
      maxItems: 10_000,
    }),
  ),
  offer_resources: optional(flag('Whether models can list and read its resources.', false)),
});

export const ProbeRequest = closed({
  credential_id: optional(
    text('A credential for exactly this URL: of a shared vault, or your own connection (`crd_…`).'),
  ),
});

export const ProbeShape = Type.Object(
  {
    reachable: flag('Whether the catalogue was read.'),
    latency_ms: count('Milliseconds until the end of the probe.'),
    protocol_version: nullable(text('The negotiated version of the protocol.')),
    server: nullable(AnyObject('Name, title and version of the server.')),
    authorization: Type.Object(
      {
        needed: flag('Whether the server refused the request because it lacks a valid credential.', false),
        issuer: nullable(
          text('The authorization server for OAuth. Null: the server names none that can be used.'),
        ),
        scopes_supported: Type.Array(Type.String(), { examples: [[]] }),
        registration: nullable(Type.Enum(['document', 'dynamic', 'none']), {
          ...NULL,
          description:
            'How a client registers at the issuer: with a client id metadata document, dynamically, or only by its ' +
            'administrator (`none`).',
        }),
      },
      { description: 'How the server authorizes its users.' },
    ),
    catalogue: nullable(
      Type.Object({
        ...catalogue(Type.Object(members, { title: 'McpTool' })),
        prompts: Type.Array(AnyObject('Name, title and description.'), { examples: [[]] }),
        resource_count: count('The number of its resources.', 0),
      }),
    ),
    diff: nullable(
      Type.Object({
        added: Type.Array(toolName),
        removed: Type.Array(toolName),
        changed: Type.Array(Type.Object({ name: toolName, members: Type.Array(Type.String()) })),
      }),
      { description: 'The differences to the reviewed catalogue; without a review, every tool is added.' },
    ),
    problem: nullable(Type.Object({ code: Type.String(), message: Type.String() }), {
      ...NULL,
      description:
        'Why the catalogue was not read: `address_refused`, `redirected`, `unreachable`, `timed_out`, `tls_invalid`, ' +
        '`too_large`, `unauthorized` or `invalid_response`.',
    }),
  },
  { title: 'McpProbe' },
);

export function serializeProbe(probe: ProbeMcpServerResponse) {
  const { reachable, latencyMs, protocolVersion, serverJson, catalogueJson, catalogueSha256 } = probe;
  return {
    reachable,
    latency_ms: latencyMs,
    protocol_version: protocolVersion || null,
    server: serverJson ? JSON.parse(serverJson) : null,
    authorization: {
      needed: probe.problem?.code === 'unauthorized',
      issuer: probe.authorization?.issuer ?? null,
      scopes_supported: probe.authorization?.scopesSupported ?? [],
      registration: probe.authorization?.registration ?? null,
    },
    catalogue: catalogueJson
      ? {
          ...serializeTexts(catalogueSha256, readCatalogue(catalogueJson), probe.warnings),
          prompts: JSON.parse(probe.promptsJson || '[]'),
          resource_count: probe.resourceCount,
        }
      : null,
    diff: probe.diff ?? null,
    problem: probe.problem ?? null,
  };
}

export function serializeCatalogue(response: GetCatalogueResponse) {
  const rules = new Map(response.rules.map(({ name, ...decided }) => [name, decided]));
  const texts = serializeTexts(response.sha256, readCatalogue(response.catalogueJson), response.warnings);
  const tools = texts.tools.map((tool) => ({ ...tool, rule: rules.get(tool.name) ?? null }));
  return { ...texts, tools, offer_resources: response.offerResources };
}

function serializeTexts(digest: string, { title, instructions, tools }: Catalogue, found: McpToolWarning[]) {
  const byTool = Map.groupBy(found, ({ tool }) => tool);
  const warningsOf = (tool: string) =>
    byTool.get(tool)?.map(({ kind, pointer }) => ({ kind, pointer })) ?? [];
  return {
    sha256: digest,
    title,
    instructions,
    warnings: warningsOf(''),
    tools: tools.map((tool) => ({ ...tool, warnings: warningsOf(tool.name) })),
  };
}
