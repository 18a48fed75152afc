import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { type DiscordOptions, startDiscord } from '../../support/products/discord/server.ts';
import {
  json,
  type ProductRequest,
  type ProductResponse,
  startProductServer,
} from '../../support/products/http-server.ts';
import { until } from '../../support/wait.ts';
import { identifyGateway } from './gateway-client.ts';
import { callRest, type Method } from './rest-api.ts';

const ASK = {
  name: 'ask',
  description: 'Ask the agent',
  options: [{ type: 3, name: 'prompt', description: 'a' }],
};

async function startWithCommand(options?: DiscordOptions) {
  const discord = await startDiscord(options);
  const { application } = discord;
  const ada = discord.createUser('ada');
  const channel = discord.createChannel(discord.createGuild('Operations', [ada]), 'general');
  const call = (method: Method, path: string, body?: object) => callRest(discord, method, path, body);
  await call('PUT', `/applications/${application.id}/commands`, [ASK] as object);
  const ask = () => discord.runCommand(ada, channel, 'ask', { prompt: 'Hello' });
  return {
    ...{ discord, application, ada, channel, call, ask },
    answer: ({ id, token }: ReturnType<typeof ask>, body: object, query = '') =>
      callRest(discord, 'POST', `/interactions/${id}/${token}/callback${query}`, body, ''),
    original: (method: Method, { token }: ReturnType<typeof ask>, body?: object) =>
      callRest(discord, method, `/webhooks/${application.id}/${token}/messages/@original`, body, ''),
    contents: (isComplete = false) => discord.messages(channel, isComplete).map(({ content }) => content),
    [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose](),
  };
}

/** Verifies as an endpoint must: over the timestamp and the raw body. */
function isSigned({ headers, body }: ProductRequest, publicKey: string): boolean {
  const x = Buffer.from(publicKey, 'hex').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signed = Buffer.concat([Buffer.from(String(headers['x-signature-timestamp'])), body]);
  return verify(null, signed, key, Buffer.from(String(headers['x-signature-ed25519']), 'hex'));
}

/** An endpoint that refuses wrong signatures and answers PINGs. */
async function startEndpoint(
  publicKey: string,
  respond: (payload: { id: string; type: number }) => ProductResponse,
) {
  return await startProductServer({
    handle(request) {
      if (!isSigned(request, publicKey)) return { status: 401 };
      const payload = JSON.parse(request.body.toString());
      return payload.type === 1 ? json({ type: 1 }) : respond(payload);
    },
  });
}

describe('Discord commands', () => {
  it('are replaced as a whole and keep their ids by name', async () => {
    await using system = await startWithCommand();
    const path = `/applications/${system.application.id}/commands`;
    const [before] = (await system.call('GET', path)).body as { id?: string }[];
    const stop = { name: 'stop', description: 'Stop' };
    const { body } = await system.call('PUT', path, [stop, { ...ASK, description: 'Ask' }] as object);
    expect(body).toMatchObject([{ name: 'stop' }, { name: 'ask', id: before?.id, description: 'Ask' }]);
    await system.call('PUT', path, [] as object);
    expect((await system.call('GET', path)).body).toEqual([]);
  });

  it('are refused with a wrong name, without description, and for another application', async () => {
    await using system = await startWithCommand();
    const put = (commands: object, id = system.application.id) =>
      system.call('PUT', `/applications/${id}/commands`, commands);
    expect((await put([{ ...ASK, name: 'Ask me' }])).body).toMatchObject({ code: 50035, errors: { 0: {} } });
    expect((await put([{ name: 'ask' }])).body).toMatchObject({ code: 50035 });
    expect(await put([], '1')).toMatchObject({ status: 403, body: { code: 20012 } });
  });
});

describe('Discord interactions at the gateway', () => {
  it('are delivered without an intent and answered once, without the token of the bot', async () => {
    await using system = await startWithCommand();
    using client = await identifyGateway(system.discord, 0);
    const interaction = system.ask();
    expect((await client.next('INTERACTION_CREATE')).d).toMatchObject({
      id: interaction.id,
      token: interaction.token,
      type: 2,
      data: { name: 'ask', options: [{ name: 'prompt', type: 3, value: 'Hello' }] },
      member: { user: { id: system.ada.id } },
      channel_id: system.channel.id,
    });
    expect(interaction.state).toBe('waiting');
    expect((await system.answer(interaction, { type: 4, data: { content: 'Hi' } })).status).toBe(204);
    expect(interaction.state).toBe('answered');
    expect(system.contents()).toEqual(['Hi']);
    expect(await system.answer(interaction, { type: 4, data: { content: 'Hi' } })).toMatchObject({
      status: 400,
      body: { code: 40060 },
    });
  });

  it('fail without an answer within 3 seconds', async () => {
    const clock = createFakeClock();
    await using system = await startWithCommand({ clock });
    const interaction = system.ask();
    clock.advance(3_000);
    await until('the user sees the failure', () => interaction.state === 'failed');
    expect(await system.answer(interaction, { type: 5 })).toMatchObject({
      status: 404,
      body: { code: 10062 },
    });
  });

  it('are deferred and answered later by @original, until the token expires', async () => {
    const clock = createFakeClock();
    await using system = await startWithCommand({ clock });
    const interaction = system.ask();
    expect((await system.original('PATCH', interaction, { content: 'early' })).body).toMatchObject({
      code: 10015,
    });
    await system.answer(interaction, { type: 5 });
    expect([interaction.state, system.contents()]).toEqual(['deferred', []]);
    clock.advance(60_000);
    expect((await system.original('PATCH', interaction, { content: 'one' })).status).toBe(200);
    await system.original('PATCH', interaction, { content: 'two' });
    expect([interaction.state, system.contents()]).toEqual(['answered', ['two']]);
    expect((await system.original('GET', interaction)).body).toMatchObject({ content: 'two' });
    clock.advance(15 * 60_000);
    expect((await system.original('PATCH', interaction, { content: 'late' })).status).toBe(404);
  });

  it('have ephemeral answers that only their user sees', async () => {
    await using system = await startWithCommand();
    using client = await identifyGateway(system.discord);
    const interaction = system.ask();
    await system.answer(interaction, { type: 4, data: { content: 'secret', flags: 64 } });
    expect([system.contents(), system.contents(true)]).toEqual([[], ['secret']]);
    expect((await system.call('GET', `/channels/${system.channel.id}/messages`)).body).toEqual([]);
    await client.next('INTERACTION_CREATE');
    expect(client.payloads.some(({ t }) => t === 'MESSAGE_CREATE')).toBe(false);
  });

  it('of buttons update their message', async () => {
    await using system = await startWithCommand();
    const { discord, ada, channel } = system;
    using client = await identifyGateway(discord);
    const row = { type: 1, components: [{ type: 2, style: 3, custom_id: 'apr_1', label: 'Allow' }] };
    await system.call('POST', `/channels/${channel.id}/messages`, { content: 'May I?', components: [row] });
    const [message] = discord.messages(channel);
    const click = discord.click(ada, channel, message!, 'Allow');
    expect((await client.next('INTERACTION_CREATE')).d).toMatchObject({
      type: 3,
      data: { custom_id: 'apr_1', component_type: 2 },
      message: { id: message?.id },
    });
    const update = { type: 7, data: { content: 'Allowed', components: [] } };
    const { body } = await system.answer(click, update, '?with_response=true');
    expect(body).toMatchObject({
      interaction: { id: click.id },
      resource: { message: { content: 'Allowed' } },
    });
    expect(() => discord.click(ada, channel, message!, 'Allow')).toThrow('no button "Allow"');
  });
});

describe('Discord interactions at an endpoint', () => {
  const setEndpoint = (system: Awaited<ReturnType<typeof startWithCommand>>, url: string | null) =>
    system.call('PATCH', '/applications/@me', { interactions_endpoint_url: url });

  it('are accepted only if the endpoint answers a PING and refuses a wrong signature with 401', async () => {
    await using system = await startWithCommand();
    const { discord, application } = system;
    await using careless = await startProductServer({ handle: () => json({ type: 1 }) });
    expect(await setEndpoint(system, careless.url)).toMatchObject({
      status: 400,
      body: {
        code: 50035,
        errors: {
          interactions_endpoint_url: {
            _errors: [{ message: 'The specified interactions endpoint url could not be verified.' }],
          },
        },
      },
    });
    expect(application.interactionsEndpointUrl).toBeNull();
    await using endpoint = await startEndpoint(application.publicKey, () => ({ status: 202 }));
    expect((await setEndpoint(system, endpoint.url)).body).toMatchObject({
      interactions_endpoint_url: endpoint.url,
      verify_key: application.publicKey,
    });
    expect(
      discord.endpointRequests
        .map(({ kind, status }) => [kind, status])
        .slice(2)
        .sort(),
    ).toEqual([
      ['ping', 200],
      ['wrongly signed', 401],
    ]);
    expect((await setEndpoint(system, null)).body).toMatchObject({ interactions_endpoint_url: null });
  });

  it('do not reach the gateway, and the response answers them', async () => {
    await using system = await startWithCommand();
    using client = await identifyGateway(system.discord);
    await using endpoint = await startEndpoint(system.application.publicKey, () =>
      json({ type: 4, data: { content: 'from the endpoint' } }),
    );
    await setEndpoint(system, endpoint.url);
    const interaction = system.ask();
    await until('the command is answered', () => interaction.state === 'answered');
    expect(system.contents()).toEqual(['from the endpoint']);
    expect(client.payloads.some(({ t }) => t === 'INTERACTION_CREATE')).toBe(false);
  });

  it('may be answered by the REST API and fail when the endpoint refuses them', async () => {
    const clock = createFakeClock(new Date());
    await using system = await startWithCommand({ clock });
    let status = 202;
    await using endpoint = await startEndpoint(system.application.publicKey, () => ({ status }));
    await setEndpoint(system, endpoint.url);
    const first = system.ask();
    const requests = () => system.discord.endpointRequests.filter(({ kind }) => kind === 'interaction');
    await until('the request is accepted', () => requests()[0]?.status === 202);
    expect((await system.answer(first, { type: 5 })).status).toBe(204);
    status = 500;
    const second = system.ask();
    await until('the request is refused', () => requests()[1]?.status === 500);
    clock.advance(3_000);
    await until('the user sees the failure', () => second.state === 'failed');
    expect([first.state, requests().length]).toEqual(['deferred', 2]);
  });

  it('are removed when a later check fails', async () => {
    await using system = await startWithCommand();
    let isCareless = false;
    const { publicKey } = system.application;
    await using endpoint = await startProductServer({
      handle: (request) => (isCareless || isSigned(request, publicKey) ? json({ type: 1 }) : { status: 401 }),
    });
    await setEndpoint(system, endpoint.url);
    expect(await system.discord.checkEndpoint()).toBe(true);
    isCareless = true;
    expect(await system.discord.checkEndpoint()).toBe(false);
    expect(system.application.interactionsEndpointUrl).toBeNull();
  });

  it('arrive twice as the fault plan decides', async () => {
    await using system = await startWithCommand({ faults: { duplicate: 1 } });
    const ids: string[] = [];
    await using endpoint = await startEndpoint(system.application.publicKey, ({ id }) => {
      ids.push(id);
      return json({ type: 5 });
    });
    await setEndpoint(system, endpoint.url);
    const { id } = system.ask();
    await until('both copies arrive', () => ids.length === 2);
    expect(ids).toEqual([id, id]);
  });
});
