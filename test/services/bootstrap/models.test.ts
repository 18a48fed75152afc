import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SettingProblem } from '../../../lib/env.ts';
import { readProcessConfig } from '../../../services/bootstrap/process-config.ts';

function read(env: Record<string, string>) {
  const problems: SettingProblem[] = [];
  return { config: readProcessConfig('all', env, problems), problems };
}

describe('model settings', () => {
  it('have the public provider URLs and no keys by default', () => {
    const { config, problems } = read({});
    expect(problems).toEqual([]);
    expect(config.common.modelEndpoints).toBeUndefined();
    expect(config.runner).toMatchObject({
      anthropicApiKey: undefined,
      anthropicBaseUrl: 'https://api.anthropic.com/v1',
      openaiApiKey: undefined,
      openaiBaseUrl: 'https://api.openai.com/v1',
      modelEndpointKeys: undefined,
      bedrockApiKey: undefined,
      vertexCredentials: undefined,
      azureApiVersion: 'v1',
      vertexLocation: 'global',
      geminiBaseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    });
  });

  it('accept the key file of a service account', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ahs-account-'));
    try {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
      const key = {
        type: 'service_account',
        client_email: 'a@project-1.iam.gserviceaccount.com',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        private_key_id: 'key-1',
        token_uri: 'https://oauth2.googleapis.com/token',
      };
      await writeFile(join(folder, 'key.json'), JSON.stringify(key, null, 2));
      const env = {
        SERVICE_VERTEX_CREDENTIALS_FILE: join(folder, 'key.json'),
        SERVICE_VERTEX_PROJECT: 'project-1',
      };
      const { config, problems } = read(env);
      expect(problems).toEqual([]);
      expect(config.runner.vertexCredentials).toEqual({
        clientEmail: key.client_email,
        privateKey: key.private_key,
        keyId: 'key-1',
        tokenUrl: key.token_uri,
      });
      const { SERVICE_VERTEX_CREDENTIALS_FILE } = env;
      const alone = read({ SERVICE_VERTEX_CREDENTIALS_FILE }).problems;
      expect(alone.map(({ variable }) => variable)).toEqual(['SERVICE_VERTEX_PROJECT']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each([
    [{ SERVICE_BEDROCK_API_KEY: 'hush' }, 'SERVICE_BEDROCK_REGION'],
    [
      { SERVICE_BEDROCK_REGION: 'eu-west-1', SERVICE_BEDROCK_ACCESS_KEY_ID: 'A' },
      'SERVICE_BEDROCK_SECRET_ACCESS_KEY',
    ],
    [{ SERVICE_BEDROCK_SECRET_ACCESS_KEY: 'hush' }, 'SERVICE_BEDROCK_ACCESS_KEY_ID'],
    [{ SERVICE_BEDROCK_SESSION_TOKEN: 'hush' }, 'SERVICE_BEDROCK_ACCESS_KEY_ID'],
    [
      { SERVICE_BEDROCK_ACCESS_KEY_ID: 'A', SERVICE_BEDROCK_SECRET_ACCESS_KEY: 'hush' },
      'SERVICE_BEDROCK_REGION',
    ],
    [{ SERVICE_AZURE_API_KEY: 'hush' }, 'SERVICE_AZURE_RESOURCE_NAME'],
  ])('report what is missing beside %j', (env, variable) => {
    const { problems } = read(env);
    expect(problems.map((problem) => problem.variable)).toEqual([variable]);
    expect(JSON.stringify(problems)).not.toContain('hush');
  });

  it('accept custom endpoints with keys', () => {
    const { config, problems } = read({
      SERVICE_MODEL_ENDPOINTS:
        ' local = http://127.0.0.1:11434/v1/ , far-1=https://models.example.com/a=b/v1,',
      SERVICE_MODEL_ENDPOINT_KEYS: 'far-1=k%2Cey+/==',
      SERVICE_OPENAI_API_KEY: 'sk-key',
      SERVICE_ANTHROPIC_BASE_URL: 'http://proxy.internal:8080/anthropic/v1/',
    });
    expect(problems).toEqual([]);
    expect(config.common.modelEndpoints).toEqual({
      local: 'http://127.0.0.1:11434/v1',
      'far-1': 'https://models.example.com/a=b/v1',
    });
    expect(config.runner).toMatchObject({
      modelEndpointKeys: { 'far-1': 'k,ey+/==' },
      openaiApiKey: 'sk-key',
      anthropicBaseUrl: 'http://proxy.internal:8080/anthropic/v1',
    });
  });

  it('read a key from a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ahs-key-'));
    try {
      await writeFile(join(folder, 'key'), 'sk-from-a-file\n');
      const { config, problems } = read({ SERVICE_ANTHROPIC_API_KEY_FILE: join(folder, 'key') });
      expect(problems).toEqual([]);
      expect(config.runner.anthropicApiKey).toBe('sk-from-a-file');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each([
    ['SERVICE_MODEL_ENDPOINTS', 'http://127.0.0.1:11434/v1'],
    ['SERVICE_MODEL_ENDPOINTS', 'local='],
    ['SERVICE_MODEL_ENDPOINTS', 'local=127.0.0.1:11434'],
    ['SERVICE_MODEL_ENDPOINTS', 'local=ftp://127.0.0.1/v1'],
    ['SERVICE_MODEL_ENDPOINTS', 'Local=http://127.0.0.1/v1'],
    ['SERVICE_MODEL_ENDPOINTS', 'a/b=http://127.0.0.1/v1'],
    ['SERVICE_MODEL_ENDPOINTS', 'a=http://127.0.0.1/v1,a=http://127.0.0.2/v1'],
    ['SERVICE_MODEL_ENDPOINTS', 'openai=http://127.0.0.1/v1'],
    ['SERVICE_MODEL_ENDPOINTS', 'rehearsal=http://127.0.0.1/v1'],
    ['SERVICE_MODEL_ENDPOINTS', 'gemini=http://127.0.0.1/v1'],
    ['SERVICE_MODEL_ENDPOINTS', 'turn=http://127.0.0.1/v1'],
    ['SERVICE_OPENAI_BASE_URL', 'api.openai.com'],
    ['SERVICE_MODEL_ENDPOINTS', 'local=http://user:hush@127.0.0.1/v1'],
    ['SERVICE_OPENAI_BASE_URL', 'https://user:hush@api.openai.com/v1'],
    ['SERVICE_ANTHROPIC_BASE_URL', 'https://api.anthropic.com/v1?a=b'],
    ['SERVICE_OPENAI_API_KEY', 'hush hush'],
    ['SERVICE_ANTHROPIC_API_KEY', 'hush\n'],
    ['SERVICE_ANTHROPIC_API_KEY', 'hush…'],
    ['SERVICE_MODEL_ENDPOINT_KEYS', 'hush'],
    ['SERVICE_MODEL_ENDPOINT_KEYS', 'unknown=hush'],
    ['SERVICE_MODEL_TRACE_CONTEXT', 'antropic'],
    ['SERVICE_MODEL_ENDPOINT_KEYS', 'unknown=hush%20hush'],
    ['SERVICE_BEDROCK_REGION', 'eu west'],
    ['SERVICE_AZURE_RESOURCE_NAME', 'acme.example.com'],
    ['SERVICE_VERTEX_PROJECT', 'a/b'],
    ['SERVICE_VERTEX_LOCATION', 'example.com/'],
    ['SERVICE_VERTEX_CREDENTIALS', 'hush'],
    ['SERVICE_VERTEX_CREDENTIALS', '{"type":"authorized_user","refresh_token":"hush"}'],
    ['SERVICE_VERTEX_CREDENTIALS', '{"type":"service_account","client_email":"a","private_key":"hush"}'],
    ['SERVICE_VERTEX_BASE_URL', 'https://user:hush@example.com'],
  ])('report %s=%j without revealing a secret', (variable, value) => {
    const { problems } = read({ [variable]: value });
    expect(problems.map((problem) => problem.variable)).toEqual([variable]);
    expect(JSON.stringify(problems)).not.toContain('hush');
  });
});
