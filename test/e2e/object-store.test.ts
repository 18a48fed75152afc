import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { shape } from '../support/shape.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

const LARGE = Buffer.alloc(9 * 1024 * 1024, 'large');

describe(`files in a failing object store, ${shape}`, () => {
  let store: FakeS3;
  let system: System;
  let api: Api;
  let session: string;
  beforeAll(async () => {
    store = await new FakeS3().start();
    system = await startSystem({
      SERVICE_S3_ENDPOINT: store.endpoint,
      SERVICE_S3_BUCKET: 'files',
      SERVICE_S3_ACCESS_KEY: 'key',
      SERVICE_S3_SECRET_KEY: 'secret',
    });
    api = createApi(system.url);
    const agent = await api.createAgent({ name: 'Shell', model: 'rehearsal/shell' });
    const { body } = await api.post(`/agents/${agent}/conversations`);
    session = String(body.data.session_id);
  });
  afterEach(() => {
    store.failure = () => undefined;
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await store?.[Symbol.asyncDispose]();
  });

  const failWrites = (status: number, code?: string) => {
    store.failure = (operation) =>
      ['PutObject', 'UploadPart'].includes(operation) ? { status, ...(code && { code }) } : undefined;
  };

  const upload = (bytes: string | Buffer) =>
    fetch(`${system.url}/api/v1/sessions/${session}/files/content?path=upload.bin`, {
      method: 'PUT',
      body: bytes,
      signal: AbortSignal.timeout(5_000),
    });

  async function refusalOf(response: Response): Promise<unknown> {
    const body = (await response.json()) as { error: { code: string } };
    return [response.status, body.error.code];
  }

  it.each([
    ['a small file', 'hello'],
    ['a file of several parts', LARGE],
  ])(
    'returns 507 STORAGE_FULL within 5 s to an upload of %s when the store answers 507',
    async (_, bytes) => {
      failWrites(507, 'InsufficientCapacity');
      expect(await refusalOf(await upload(bytes))).toEqual([507, 'STORAGE_FULL']);
    },
  );

  it.each([501, 500, 503])(
    'returns 503 DEPENDENCY_UNAVAILABLE within 5 s when the store answers %i',
    async (status) => {
      failWrites(status, 'NotImplemented');
      expect(await refusalOf(await upload(LARGE))).toEqual([503, 'DEPENDENCY_UNAVAILABLE']);
    },
  );

  it('reports the full store in the result of a command that writes a file', async () => {
    failWrites(507, 'InsufficientCapacity');
    const sent = await api.post(`/sessions/${session}/messages`, { content: '$ echo hello > result.txt' });
    expect(sent.status).toBe(202);
    const turn = String(sent.body.data.turn_id);
    await until('the turn has ended', async () => {
      const { body } = await api.get(`/sessions/${session}/turns/${turn}`);
      return ['completed', 'failed'].includes(String(body.data.status));
    });
    const { body } = await api.get(`/sessions/${session}/messages?limit=100`);
    expect(JSON.stringify(body.data)).toContain('The file storage is full.');
  });
});
