import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { scratch } from '../support/scratch.ts';
import { type System, startSystem } from '../support/system.ts';

interface Model {
  name: string;
  provider: string;
  model_id: string | null;
  available: boolean;
}

const KEY = 'sk-a-key-that-no-response-shows';
const FILE = `models:
  - name: local/small
    context_window: 2048
    capabilities: {tools: false}
  - name: openai/gpt-5
    max_output: 1000
  - name: local/text-only
    capabilities: {images: false}
`;

describe('GET /models', () => {
  const stack = new AsyncDisposableStack();
  let system: System;
  let api: Api;
  let models: Map<string, Model>;

  beforeAll(async () => {
    const directory = await mkdtemp(join(scratch(), 'ahs-test-models-'));
    stack.defer(() => rm(directory, { recursive: true }));
    const file = join(directory, 'models.yaml');
    await writeFile(file, FILE);
    system = stack.use(
      await startSystem({
        SERVICE_OPENAI_API_KEY: KEY,
        SERVICE_MODEL_ENDPOINTS: 'local=http://127.0.0.1:1/v1,other=http://127.0.0.1:2/v1',
        SERVICE_MODEL_ENDPOINT_KEYS: `other=${KEY}`,
        SERVICE_MODELS_FILE: file,
      }),
    );
    api = createApi(system.url);
    models = new Map((await api.list<Model>('/models')).map((model) => [model.name, model]));
  });
  afterAll(() => stack.disposeAsync());

  it('returns the models of the release with the changes of the file', () => {
    expect(models.get('openai/gpt-5')).toEqual({
      name: 'openai/gpt-5',
      provider: 'openai',
      model_id: 'gpt-5',
      context_window: 400_000,
      max_output: 1_000,
      capabilities: { tools: true, images: true, structured_output: true, caching: true },
      media_types: expect.arrayContaining(['image/png', 'application/pdf', 'text/*']),
      key_configured: true,
      available: true,
      installed: true,
    });
    expect(models.get('local/small')).toEqual({
      name: 'local/small',
      provider: 'local',
      model_id: 'small',
      context_window: 2_048,
      max_output: null,
      capabilities: { tools: false, images: null, structured_output: null, caching: null },
      media_types: null,
      key_configured: false,
      available: true,
      installed: true,
    });
  });

  it('returns which models can be used without a key of the agent', () => {
    const usable = [...models.values()].filter(({ available }) => available).map(({ provider }) => provider);
    expect(new Set(usable)).toEqual(new Set(['rehearsal', 'openai', 'local', 'other']));
    expect(models.get('anthropic/claude-haiku-4-5')).toMatchObject({
      key_configured: false,
      available: false,
    });
  });

  it('has an entry for the other models of each endpoint', () => {
    expect(models.get('other/*')).toMatchObject({
      model_id: null,
      context_window: null,
      key_configured: true,
    });
    expect(models.get('local/*')).toMatchObject({ model_id: null, available: true, key_configured: false });
    expect([...models.keys()].filter((name) => name.endsWith('/*'))).toHaveLength(2);
  });

  it('never shows a key', async () => {
    expect(JSON.stringify((await api.get('/models')).body)).not.toContain(KEY);
  });

  it('decides which media types a message can have', async () => {
    const agentId = await api.createAgent({ model: 'local/text-only' });
    const image = { type: 'image', data: 'iVBORw0KGgo=', media_type: 'image/png' };
    const { status, body } = await api.post(`/agents/${agentId}/conversations`, { message: [image] });
    expect([status, body.code]).toEqual([400, 'CONTENT_NOT_SUPPORTED']);
  });
});
