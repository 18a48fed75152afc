import { Type } from 'typebox';
import type { ListModelsResponse, Model, ModelProvider } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { flag, nullable } from './common.ts';

const limit = (description: string, example: number) =>
  nullable(Type.Integer({ minimum: 1 }), { description, examples: [example] });

const capability = (description: string) => nullable(Type.Boolean(), { description, examples: [true] });

export const ModelShape = Type.Object(
  {
    name: Type.String({
      description:
        'The `model` of an agent: `<provider>/<model id>`. `<provider>/*` stands for the other models of an endpoint that the ' +
        'operator has configured; its `model_id` is null.',
      examples: ['anthropic/claude-sonnet-5-5'],
    }),
    provider: Type.String({ description: 'The first part of the name.', examples: ['anthropic'] }),
    model_id: nullable(Type.String(), {
      description: 'The second part of the name; null for the other models of an endpoint.',
      examples: ['claude-sonnet-5-5'],
    }),
    context_window: limit('Tokens of input and output together; null if unknown.', 1_000_000),
    max_output: limit('Tokens of one answer; null if unknown.', 128_000),
    capabilities: Type.Object(
      {
        tools: capability('Whether requests can offer tools.'),
        images: capability('Whether messages can have images.'),
        structured_output: capability('Whether answers can be bound to a JSON schema.'),
        caching: capability('Whether the provider caches the beginning of prompts.'),
      },
      {
        title: 'ModelCapabilities',
        description: 'Null is unknown: a request that needs the capability is tried.',
      },
    ),
    media_types: nullable(Type.Array(Type.String()), {
      description:
        'The media types of the image and file parts that the model accepts: `type/subtype`, `type/*` or `*/*`. Null if unknown.',
      examples: [['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf', 'text/*']],
    }),
    key_configured: flag(
      'Whether every runner has an API key of the operator for the provider. Keys of agents do not count and are never shown.',
    ),
    available: flag(
      'Whether the model can be used without a model key of the agent: its provider needs no key, is an endpoint, or has a key ' +
        'and is installed.',
    ),
    installed: flag(
      'Whether every runner has the package of the provider. Only Bedrock, Vertex AI, Azure and Gemini need one that an ' +
        'operator installs; true for all others.',
    ),
  },
  { title: 'Model', description: 'The declared limits and capabilities of a model.' },
);

/** Returns the models of the table, and one entry for the other models of each endpoint. */
export function serializeModels({ models, providers }: ListModelsResponse): object[] {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  const others = providers
    .filter(({ endpoint }) => endpoint)
    .map(({ name }) => ({ ...OTHER, name: `${name}/*` }));
  return [
    ...models.map((model) => serializeModel(model, model.name.slice(model.name.indexOf('/') + 1), byName)),
    ...others.map((model) => serializeModel(model, null, byName)),
  ];
}

const OTHER = {
  contextWindow: undefined,
  maxOutput: undefined,
  capabilities: undefined,
  mediaTypes: undefined,
};

function serializeModel(
  { name, contextWindow, maxOutput, capabilities, mediaTypes }: Model,
  modelId: string | null,
  providers: ReadonlyMap<string, ModelProvider>,
): object {
  const provider = name.slice(0, name.indexOf('/'));
  const { keyConfigured = false, available = false, installed = true } = providers.get(provider) ?? {};
  return {
    name,
    provider,
    model_id: modelId,
    context_window: contextWindow ?? null,
    max_output: maxOutput ?? null,
    capabilities: {
      tools: capabilities?.tools ?? null,
      images: capabilities?.images ?? null,
      structured_output: capabilities?.structuredOutput ?? null,
      caching: capabilities?.caching ?? null,
    },
    media_types: mediaTypes?.names ?? null,
    key_configured: keyConfigured,
    available,
    installed,
  };
}
