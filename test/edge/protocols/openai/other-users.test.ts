import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, startTeam, type Team } from '../../access/team.ts';
import { createOpenaiClient, type OpenaiClient } from './client.ts';

describe('the OpenAI-compatible API of several users', () => {
  let team: Team;
  let bob: Browser;
  let bobs: OpenaiClient;
  let carols: OpenaiClient;
  beforeAll(async () => {
    team = await startTeam();
    const clientOf = async (browser: Browser, scope: string) => {
      const { value } = await browser.token([scope]);
      return createOpenaiClient(team, { authorization: `Bearer ${value}` });
    };
    bob = await team.logIn('bob');
    bobs = await clientOf(bob, 'mcp');
    carols = await clientOf(await team.logIn('carol'), 'write');
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const createAgent = async (visibility: string) => {
    const agent = { name: 'Shared', model: 'rehearsal/echo', visibility };
    const { data } = await bob.send('POST', '/api/v1/agents', agent);
    return String(data.agent_id);
  };
  const messages = [{ role: 'user', content: 'one' }];
  const notFound = { status: 404, body: { error: { type: 'invalid_request_error' } } };

  it('a private agent is no model of another user', async () => {
    const model = await createAgent('private');
    expect((await bobs.get(`/models/${model}`)).status).toBe(200);
    expect(await carols.get(`/models/${model}`)).toMatchObject(notFound);
    expect(JSON.stringify((await carols.get('/models')).body)).not.toContain(model);
    expect(await carols.post('/chat/completions', { model, messages })).toMatchObject(notFound);
    expect(await carols.post('/responses', { model, input: 'one' })).toMatchObject(notFound);
  });

  it('chats, responses and sessions of another user are unknown', async () => {
    const model = await createAgent('public');
    const { body: response } = await bobs.post('/responses', { model, input: 'one' });
    const session = response.conversation.id;
    for (const request of [{ previous_response_id: response.id }, { conversation: session }])
      expect(await carols.post('/responses', { model, input: 'two', ...request })).toMatchObject(notFound);
    expect(await carols.get(`/responses/${response.id}`)).toMatchObject(notFound);
    expect(await carols.post(`/responses/${response.id}/cancel`, {})).toMatchObject(notFound);
    expect(await carols.delete(`/responses/${response.id}`)).toMatchObject(notFound);
    const metadata = { session_id: session };
    expect(await carols.post('/chat/completions', { model, messages, metadata })).toMatchObject(notFound);

    const { body: chat } = await bobs.post('/chat/completions', { model, messages });
    const { content } = chat.choices[0].message;
    const past = [...messages, { role: 'assistant', content }, { role: 'user', content: 'two' }];
    const { body: other } = await carols.post('/chat/completions', { model, messages: past });
    expect(other.session_id).not.toBe(chat.session_id);
    expect((await bobs.get(`/responses/${response.id}`)).status).toBe(200);
  });

  it('a session names the token of its client as actor', async () => {
    const model = await createAgent('private');
    const { body } = await bobs.post('/chat/completions', { model, messages });
    const { data } = await bob.get(`/api/v1/sessions/${body.session_id}/events?limit=1`);
    expect(data[0]).toMatchObject({ actor: { type: 'openai', id: expect.stringMatching(/^tok_/) } });
  });

  it('requires a token with the scope mcp or write, and ignores logins', async () => {
    const { value } = await bob.token(['read']);
    const reader = createOpenaiClient(team, { authorization: `Bearer ${value}` });
    expect(await reader.get('/models')).toMatchObject({
      status: 403,
      body: { error: { type: 'permission_error', code: 'SCOPE_INSUFFICIENT' } },
    });
    const login = createOpenaiClient(team, { cookie: bob.jar.header() });
    expect(await login.get('/models')).toMatchObject({
      status: 401,
      body: { error: { type: 'authentication_error', code: 'UNAUTHENTICATED' } },
    });
  });
});
