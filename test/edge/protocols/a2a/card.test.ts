import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { type Browser, startTeam, type Team } from '../../access/team.ts';
import { createA2aClient } from './client.ts';

const PUBLIC_URL = 'https://agents.example.com';

describe('agent cards in team mode', () => {
  let team: Team;
  let bob: Browser;
  beforeAll(async () => {
    team = await startTeam({ SERVICE_PUBLIC_URL: PUBLIC_URL });
    bob = await team.logIn('bob');
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const createAgent = async (members: object) => {
    const agent = { name: 'Travel guide', model: 'rehearsal/echo', description: 'Knows places.', ...members };
    return String((await bob.send('POST', '/api/v1/agents', agent)).data.agent_id);
  };
  const clientOf = async (agent: string, browser?: Browser, ...scopes: string[]) =>
    createA2aClient(
      team,
      agent,
      browser && { authorization: `Bearer ${(await browser.token(scopes)).value}` },
    );

  it('describe the agent to everyone if they are public', async () => {
    const agent = await createAgent({ exposure: { a2a: 'public' } });
    const response = await (await clientOf(agent)).card();
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=60');
    expect(await response.json()).toEqual({
      name: 'Travel guide',
      description: 'Knows places.',
      version: '1',
      supportedInterfaces: [
        {
          url: `${PUBLIC_URL}/api/v1/a2a/${agent}`,
          protocolBinding: 'JSONRPC',
          protocolVersion: '1.0',
        },
      ],
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
      securitySchemes: {
        bearer: { httpAuthSecurityScheme: { description: expect.any(String), scheme: 'Bearer' } },
        openIdConnect: {
          openIdConnectSecurityScheme: {
            description: expect.any(String),
            openIdConnectUrl: `${team.provider.issuer}/.well-known/openid-configuration`,
          },
        },
      },
      securityRequirements: [
        { schemes: { bearer: {} } },
        { schemes: { openIdConnect: { list: ['agents:mcp'] } } },
      ],
      defaultInputModes: expect.arrayContaining(['text/plain', 'image/png']),
      defaultOutputModes: expect.arrayContaining(['text/plain', 'application/json']),
      skills: [
        { id: 'conversation', name: 'Travel guide', description: 'Knows places.', tags: ['conversation'] },
      ],
    });
  });

  it('with the exposure on, need a credential of a user who can use the agent', async () => {
    const agent = await createAgent({ exposure: { a2a: 'on' } });
    const anonymous = await (await clientOf(agent)).card();
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toContain('Bearer');
    for (const scope of ['mcp', 'write'])
      expect((await (await clientOf(agent, bob, scope)).card()).status).toBe(200);
    const response = await (await clientOf(agent, bob, 'mcp')).card();
    expect(response.headers.get('cache-control')).toBe('private, max-age=60');
    expect((await (await clientOf(agent, bob, 'read')).card()).status).toBe(403);
    const carol = await team.logIn('carol');
    expect((await (await clientOf(agent, carol, 'mcp')).card()).status).toBe(404);
    const login = createA2aClient(team, agent, { cookie: bob.jar.header() });
    expect((await login.card()).status).toBe(401);
  });

  it('do not exist for an agent that is not exposed, and look alike to everyone else', async () => {
    const agent = await createAgent({});
    expect((await (await clientOf(agent, bob, 'mcp')).card()).status).toBe(404);
    const unknown = 'agt_01M7XYC91CC5TE06JQWDWRTJVA';
    for (const id of [agent, unknown]) expect((await (await clientOf(id)).card()).status).toBe(401);
    expect((await (await clientOf(unknown, bob, 'mcp')).card()).status).toBe(404);
  });

  it('of an agent that is public to everyone still need a credential for its tasks', async () => {
    const agent = await createAgent({ exposure: { a2a: 'public' } });
    const anonymous = await clientOf(agent);
    expect(await anonymous.send('hi')).toMatchObject({
      status: 401,
      error: { data: [{ reason: 'UNAUTHENTICATED' }] },
    });
    const carol = await team.logIn('carol');
    expect(await (await clientOf(agent, carol, 'mcp')).send('hi')).toMatchObject({ status: 404 });
  });
});

describe('agent cards in local mode', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('need no credential and name no security scheme', async () => {
    const api = createApi(system.url);
    const agent = await api.createAgent({ exposure: { a2a: 'on' } });
    const card = await (await createA2aClient(system, agent).card()).json();
    expect(card).toMatchObject({ supportedInterfaces: [{ url: `${system.url}/api/v1/a2a/${agent}` }] });
    expect(card).not.toHaveProperty('securitySchemes');
    await api.send('PATCH', `/agents/${agent}`, { exposure: { a2a: 'off' } });
    expect((await createA2aClient(system, agent).card()).status).toBe(404);
  });
});
