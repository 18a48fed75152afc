import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

describe('GET /sessions/{session_id}/extensions', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('shows the variables of shared vaults with their state in the current environment', async () => {
    const environment = await api.post('/admin/environments', {
      name: 'limited',
      sandbox: { provider: 'bubblewrap' },
      network: { mode: 'limited', allowed_hosts: ['api.example.org'] },
    });
    const { environment_id } = environment.body.data;
    const vault = await api.post('/admin/vaults', { name: 'Tokens' });
    const { vault_id } = vault.body.data;
    const create = (name: string, host: string) =>
      api.post(`/admin/vaults/${vault_id}/credentials`, {
        ...{ type: 'environment_variable', name, value: 'secret-value', allowed_hosts: [host] },
      });
    await create('GITHUB_TOKEN', '*.example.org');
    await create('OTHER', 'other.example.org');
    const agentId = await api.createAgent({ environment_id });
    const assigned = await api.send('PUT', `/admin/agents/${agentId}/vaults`, { vault_ids: [vault_id] });
    expect(assigned.status).toBe(200);
    const { body } = await api.post(`/agents/${agentId}/conversations`, { message: 'Go', wait_seconds: 60 });
    const variables = async () => {
      const answer = await api.get(`/sessions/${body.data.session_id}/extensions`);
      return answer.body.data.variables;
    };
    expect(await variables()).toEqual([
      { name: 'GITHUB_TOKEN', hosts: ['api.example.org'], state: 'ready', reason: '' },
      {
        ...{ name: 'OTHER', hosts: ['other.example.org'], state: 'host_not_allowed' },
        reason: 'The environment does not allow other.example.org.',
      },
    ]);
    const changed = await api.send('PATCH', `/admin/environments/${environment_id}`, {
      variables: { GITHUB_TOKEN: 'own' },
    });
    expect(changed.status).toBe(200);
    expect(await variables()).toMatchObject([
      { name: 'GITHUB_TOKEN', hosts: ['*.example.org'], state: 'conflict' },
      { name: 'OTHER' },
    ]);
    expect(JSON.stringify(await variables())).not.toContain('secret-value');
  });
});
