import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settings } from '../../edge/config.ts';
import { openEdge } from '../../edge/server.ts';
import { createKeyDeriver } from '../../lib/derived-key.ts';
import { readSettings } from '../../lib/env/read-settings.ts';
import { refuse } from '../../lib/errors.ts';
import { administratorOf } from '../../lib/grpc/caller.ts';
import { createPeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import { type Sandbox, SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import { type Api, createApi } from '../support/api.ts';
import { createContext } from '../support/context.ts';
import { fakeService } from '../support/fake-service.ts';
import { identity } from '../support/identity.ts';

const ID = '01M7YXYC91CC5TE06JQWDWRTJV';
const SANDBOX: Sandbox = {
  sandboxId: `sbx_${ID}`,
  provider: 'bubblewrap',
  isolation: 'kernel',
  status: 'ready',
  reason: '',
  tenancy: 'assistant',
  tenantId: `ast_${ID}`,
  ownerId: `usr_${ID}`,
  runnerId: `rnr_${ID}`,
  environmentId: `env_${ID}`,
  environmentVersion: 3,
  limitsJson:
    '{"cpuMillis":{"value":1000,"enforcement":"sandbox"},"pids":{"value":null,"enforcement":"none"}}',
  createdAt: new Date(0),
  updatedAt: new Date(1),
  endedAt: undefined,
};

/** An edge with fake services that know one sandbox. The test sets the caller. */
describe('/admin/sandboxes', () => {
  const stack = new AsyncDisposableStack();
  const requests: object[] = [];
  let roles: string[];
  let api: Api;

  beforeAll(async () => {
    const context = createContext('');
    const { clock, ids, log, bus, metrics, tracer } = context;
    const known = (sandboxId: string) => {
      if (sandboxId !== SANDBOX.sandboxId) throw refuse('SANDBOX_NOT_FOUND', 'there is no such sandbox');
      return { sandbox: SANDBOX };
    };
    const auth = fakeService(
      AuthServiceDefinition,
      {
        identify: async () => identity({ userId: `usr_${ID}`, roles }),
      },
      'edge',
      context,
    );
    const sessions = fakeService(
      SessionsServiceDefinition,
      {
        async listSandboxes(request, call) {
          administratorOf(call);
          requests.push(request);
          return { sandboxes: [SANDBOX], page: { nextCursor: 'on' } };
        },
        async getSandbox({ sandboxId }, call) {
          administratorOf(call);
          return known(sandboxId);
        },
        async terminateSandbox(request, call) {
          administratorOf(call);
          requests.push(request);
          return known(request.sandboxId);
        },
      },
      'edge',
      context,
    );
    const clients = {
      auth,
      sessions,
      agents: fakeService(AgentsServiceDefinition, {}, 'edge', context),
      files: fakeService(FilesServiceDefinition, {}, 'edge', context),
      deployments: fakeService(DeploymentsServiceDefinition, {}, 'edge', context),
      vaults: fakeService(VaultsServiceDefinition, {}, 'edge', context),
    };
    const edge = await openEdge(
      {
        clock,
        ids,
        log,
        bus,
        metrics,
        tracer,
        clients,
        sealer: createPeerSealer('edge', context.serviceSecret),
        deriveKey: createKeyDeriver(context.serviceSecret),
        readiness: async () => [],
        backends: [],
        configuration: [],
      },
      { ...readSettings(settings, { SERVICE_PORT: '0' }, []), authMode: 'local' },
    );
    stack.defer(() => edge.stop?.());
    api = createApi(edge.url);
  });
  afterAll(() => stack.disposeAsync());
  beforeEach(() => {
    roles = ['administrator'];
    requests.length = 0;
  });

  const SHOWN = {
    sandbox_id: `sbx_${ID}`,
    provider: 'bubblewrap',
    isolation: 'kernel',
    status: 'ready',
    reason: null,
    tenancy: 'assistant',
    tenant_id: `ast_${ID}`,
    owner_id: `usr_${ID}`,
    runner_id: `rnr_${ID}`,
    environment_id: `env_${ID}`,
    environment_version: 3,
    limits: {
      cpu_millis: { value: 1000, enforcement: 'sandbox' },
      pids: { value: null, enforcement: 'none' },
    },
    created_at: '1970-01-01T00:00:00.000Z',
    updated_at: '1970-01-01T00:00:00.001Z',
    ended_at: null,
  };

  it('GET lists existing sandboxes by default, and others by status', async () => {
    const { status, body } = await api.get('/admin/sandboxes');
    expect(status).toBe(200);
    expect(body).toMatchObject({ data: [SHOWN], page: { next_cursor: 'on', has_more: true } });
    await api.get('/admin/sandboxes?status=ended&limit=7&cursor=x');
    expect(requests).toEqual([
      { status: '', page: { limit: 50, cursor: '' } },
      { status: 'ended', page: { limit: 7, cursor: 'x' } },
    ]);
    const refused = await api.get('/admin/sandboxes?status=ready');
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
  });

  it('GET returns a sandbox', async () => {
    expect(await api.get(`/admin/sandboxes/sbx_${ID}`)).toMatchObject({ status: 200, body: { data: SHOWN } });
  });

  it('POST …/terminate ends a sandbox', async () => {
    const ended = await api.post(`/admin/sandboxes/sbx_${ID}/terminate`);
    expect(ended).toMatchObject({ status: 202, body: { data: SHOWN } });
    expect(requests).toEqual([{ sandboxId: `sbx_${ID}` }]);
  });

  it('returns SANDBOX_NOT_FOUND for an unknown id', async () => {
    for (const id of ['nonsense', 'sbx_7ZZZZZZZZZZZZZZZZZZZZZZZZZ', `ses_${ID}`]) {
      const missing = { status: 404, body: { code: 'SANDBOX_NOT_FOUND' } };
      expect(await api.get(`/admin/sandboxes/${id}`)).toMatchObject(missing);
      expect(await api.post(`/admin/sandboxes/${id}/terminate`)).toMatchObject(missing);
    }
  });

  it('returns 403 for callers who are not administrators', async () => {
    roles = ['member'];
    const forbidden = { status: 403, body: { code: 'FORBIDDEN' } };
    expect(await api.get('/admin/sandboxes')).toMatchObject(forbidden);
    expect(await api.get(`/admin/sandboxes/sbx_${ID}`)).toMatchObject(forbidden);
    expect(await api.post(`/admin/sandboxes/sbx_${ID}/terminate`)).toMatchObject(forbidden);
    expect(requests).toEqual([]);
  });
});
