import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { anthropic } from '../support/providers/anthropic.ts';
import { openProvider, type ProviderServer } from '../support/providers/server.ts';
import { until } from '../support/wait.ts';

const KEY = 'key-of-the-agent-0123456789';

describe('model keys while the vaults service is down', () => {
  let fleet: Fleet;
  let provider: ProviderServer;
  let agent: string;
  beforeAll(async () => {
    provider = await openProvider(anthropic);
    fleet = await startFleet({
      SERVICE_ANTHROPIC_API_KEY: anthropic.key,
      SERVICE_ANTHROPIC_BASE_URL: `${provider.url}/v1`,
      SERVICE_TURN_MAX_RETRIES: '0',
    });
    const { api } = fleet;
    agent = await api.createAgent({ model: anthropic.model });
    const vault = (await api.post('/admin/vaults', { name: 'Keys' })).body.data.vault_id;
    const credential = { type: 'model_key', provider: 'anthropic', key: KEY };
    expect((await api.post(`/admin/vaults/${vault}/credentials`, credential)).status).toBe(201);
    const assigned = await api.send('PUT', `/admin/agents/${agent}/vaults`, { vault_ids: [vault] });
    expect(assigned.status).toBe(200);
  });
  afterAll(async () => {
    await fleet?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });

  const hasState = (session: string, state: string) =>
    until(`the session is ${state}`, async () => {
      const { body } = await fleet.api.get(`/sessions/${session}`);
      return body.data.state === state;
    });

  /** Starts a turn, and waits until it is blocked. Returns the approval. */
  async function block(): Promise<{ session: string; path: string; approval: Record<string, unknown> }> {
    const { api } = fleet;
    const begun = await api.post(`/agents/${agent}/conversations`, { message: 'Well?' });
    const session = String(begun.body.data.session_id);
    await hasState(session, 'needs_input');
    const [approval = {}] = await api.list<Record<string, unknown>>(`/sessions/${session}/approvals`);
    return { session, path: `/sessions/${session}/approvals/${approval.approval_id}`, approval };
  }

  it('block turns, which continue after a decision and end after a denial', async () => {
    const { api } = fleet;
    await fleet.end('vaults', 'SIGKILL');
    const kept = await block();
    const denied = await block();
    expect(kept.approval).toMatchObject({
      ...{ kind: 'authorization', status: 'pending' },
      ...{ tool_use_id: null, tool_name: null, input: null, input_sha256: null },
      details: { model_provider: 'anthropic', reason: 'unavailable', who: 'administrator' },
    });
    expect((await api.post(denied.path, { decision: 'deny', reason: 'Not today.' })).status).toBe(200);
    await hasState(denied.session, 'failed');
    expect(provider.requests).toEqual([]);

    await fleet.run('vaults');
    await fleet.listening('vaults');
    await fleet.ready();
    provider.enqueue({ parts: [{ text: 'Yes.' }] });
    expect((await api.post(kept.path, { decision: 'retry' })).status).toBe(200);
    await until('the turn is completed', async () => {
      // The runner can have found the vaults service later than the edge, so that the turn waits again.
      const path = `/sessions/${kept.session}/approvals`;
      for (const { approval_id: id } of await api.list<{ approval_id: string }>(`${path}?status=pending`))
        await api.post(`${path}/${id}`, { decision: 'retry' });
      return (await api.get(`/sessions/${kept.session}`)).body.data.state === 'completed';
    });
    const sent = provider.requests.map(({ headers }) => JSON.stringify(headers));
    expect(sent).toEqual([expect.stringContaining(KEY)]);
  });
});
