import { describe, expect, it } from 'vitest';
import type { AgentRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ScriptedResponse } from '../../support/providers/protocol.ts';
import { openProvider, type ProviderServer } from '../../support/providers/server.ts';
import { until } from '../../support/wait.ts';
import { message } from './fake-sessions.ts';
import { ALL_PROTOCOLS, PROTOCOLS } from './model-step-fixture.ts';
import { storedPart } from './part-events.ts';
import { openTestRunner, type RunnerUnderTest } from './runner-fixture.ts';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const HISTORY = new Set(['user.message', 'agent.message', 'agent.tool_result']);
type Body = Record<string, unknown>;
type Block = Record<string, unknown>;

/** A session whose turns run one after another, each with the journal of the turns before. */
class Conversation {
  readonly #fixture: RunnerUnderTest;
  readonly #runtime: Partial<AgentRuntime>;
  #events: Event[] = [];
  #turns = 0;

  constructor(fixture: RunnerUnderTest, runtime: Partial<AgentRuntime>) {
    this.#fixture = fixture;
    this.#runtime = runtime;
  }

  async runTurn(content: string | object[], runtime: Partial<AgentRuntime> = {}): Promise<void> {
    await this.end(this.begin(content, runtime));
  }

  /** Queues a turn. Returns its id. */
  begin(content: string | object[], runtime: Partial<AgentRuntime> = {}): string {
    const turnId = `trn_${++this.#turns}`;
    this.#events.push(message(turnId, this.#events.length + 1, 'user.message', content));
    const turn = { turnId, sessionId: 'ses_1', messages: [...this.#events] };
    this.#fixture.queueTurns({ ...this.#runtime, ...runtime }, turn);
    return turnId;
  }

  /** Waits until a turn has this many outcomes, and takes over its journal. */
  async end(turnId: string, outcomes = 1): Promise<void> {
    const journal = await this.#fixture.waitForOutcome(turnId, outcomes);
    for (const { type, data } of journal.events) {
      if (!HISTORY.has(type)) continue;
      const seq = this.#events.length + 1;
      this.#events.push({ seq, type, json: JSON.stringify({ seq, type, turn_id: turnId, data }) });
    }
  }
}

/** The parts of a request that form its prefix, in the order in which the provider reads them, each as JSON text. */
function prefixOf(body: Body): string[] {
  const { tools, toolConfig, system, systemInstruction, messages, input, contents } = withoutMarks(body);
  const turns = (messages ?? input ?? contents) as { content?: unknown; parts?: unknown }[];
  const blocks = turns.flatMap(({ content, parts, ...turn }) => {
    const found: unknown[] = [content ?? parts].flat();
    return found.map((block) => ({ ...turn, block }));
  });
  return [tools ?? toolConfig, system ?? systemInstruction, ...blocks].map(
    (one) => JSON.stringify(one) ?? '',
  );
}

/** Marks of the cache are not a part of what is cached. Bedrock has them as blocks of their own, others as members. */
function withoutMarks(body: Body): Body {
  return JSON.parse(JSON.stringify(body), (name, value) => {
    if (name === 'cache_control') return undefined;
    return Array.isArray(value) ? value.filter((block) => block?.cachePoint === undefined) : value;
  });
}

function expectSamePrefixes(bodies: readonly Body[]): void {
  for (const [index, body] of bodies.slice(1).entries()) {
    const before = prefixOf(bodies[index] ?? {});
    expect(prefixOf(body).slice(0, before.length), `request ${index + 2}`).toEqual(before);
  }
}

const bodiesOf = (server: ProviderServer) => server.requests.map(({ body }) => body);

describe.each(ALL_PROTOCOLS)('consecutive requests to $model', (protocol) => {
  async function begin(runtime: Partial<AgentRuntime> = {}) {
    const stack = new AsyncDisposableStack();
    const server = stack.use(await openProvider(protocol));
    const fixture = stack.use(await openTestRunner({ providers: protocol.settings(server.url) }));
    const image = storedPart(fixture.files, PNG);
    const agent = { model: protocol.model, system: 'You are brief.', maxSteps: 50, ...runtime };
    const conversation = new Conversation(fixture, agent);
    return { server, fixture, conversation, image, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  /** One turn: parallel calls, a failing call, an answer. */
  const turnOf = (index: number) => [
    {
      parts: [
        { thought: `Thought ${index}.`, seal: 'c2VhbA==' },
        { text: `Step ${index}.` },
        { call: `call_a${index}`, name: 'calculator', input: `{"expression":"${index}*7"}` },
        { call: `call_b${index}`, name: 'calculator', input: '{"expression":"nonsense("}' },
      ],
    },
    { parts: [{ call: `call_c${index}`, name: 'current_time', input: '' }] },
    { parts: [{ text: `Answer ${index}.` }] },
  ];

  it('repeat the requests before byte by byte over steps and turns, with tools and images', async () => {
    await using run = await begin();
    for (let turn = 1; turn <= 12; turn++) {
      run.server.enqueue(...turnOf(turn));
      await run.conversation.runTurn(
        turn % 3 === 0 ? [{ type: 'text', text: `Question ${turn}` }, run.image] : `Question ${turn}`,
      );
    }
    const bodies = bodiesOf(run.server);
    expect(bodies).toHaveLength(36);
    expectSamePrefixes(bodies);
  });

  it('repeat the requests before when a runner is killed in the middle of a turn', async () => {
    await using run = await begin();
    run.server.enqueue(...turnOf(1));
    await run.conversation.runTurn('one');
    const silent: ScriptedResponse = { parts: [{ text: 'Well' }], fault: 'silence' };
    run.server.enqueue(...turnOf(2).slice(0, 1), silent);
    const turnId = run.conversation.begin([{ type: 'text', text: 'two' }, run.image]);
    await until('the second step has begun', () => run.server.requests.length === 5);
    run.fixture.sessions.revokeLease(turnId);
    await run.fixture.crash();
    run.server.enqueue(...turnOf(2).slice(1), ...turnOf(3));
    run.fixture.requeue(turnId);
    await run.conversation.end(turnId);
    await run.conversation.runTurn('three');
    const bodies = bodiesOf(run.server);
    expect(bodies).toHaveLength(10);
    expectSamePrefixes(bodies);
  });

  it('repeat the requests before when a person has edited the inputs of calls', async () => {
    await using run = await begin({ tools: [{ name: 'calculator', permission: 'ask', client: undefined }] });
    run.server.enqueue(...turnOf(1));
    const turnId = run.conversation.begin('one');
    const { openCalls } = await run.fixture.waitForOutcome(turnId);
    const [first = '', second = ''] = openCalls.map(({ toolUseId }) => toolUseId);
    const inputJson = '{"expression":"8*8"}';
    run.fixture.requeue(turnId, { [first]: { inputJson }, [second]: { decision: 'deny', reason: 'no' } });
    await run.conversation.end(turnId, 2);
    run.server.enqueue({ parts: [{ text: 'Bye.' }] });
    await run.conversation.runTurn('two');
    const bodies = bodiesOf(run.server);
    expect(JSON.stringify(bodies.at(-1))).toContain('A person has changed the input');
    expect(bodies).toHaveLength(4);
    expectSamePrefixes(bodies);
  });

  it('have another prefix only after another agent version or other tools', async () => {
    await using run = await begin();
    run.server.enqueue(...turnOf(1), ...turnOf(2), ...turnOf(3));
    await run.conversation.runTurn('one');
    await run.conversation.runTurn('two', { system: 'You are long.' });
    await run.conversation.runTurn('three', {
      system: 'You are long.',
      tools: [{ name: 'search_files', permission: 'deny', client: undefined }],
    });
    const [first = {}, second = {}, third = {}] = [0, 3, 6].map((index) => bodiesOf(run.server)[index]);
    const differences = (one: Body, other: Body) => {
      const after = prefixOf(other);
      return prefixOf(one).filter((block, index) => block !== after[index]);
    };
    expect(differences(first, second)).toHaveLength(1);
    expect(differences(first, second)[0]).toContain('You are brief.');
    expect(differences(second, third)).toHaveLength(1);
    expect(differences(second, third)[0]).toContain('search_files');
  });
});

describe('caching at Anthropic', () => {
  const [protocol] = PROTOCOLS as [(typeof PROTOCOLS)[0]];
  const MARK = { type: 'ephemeral' };
  const marksIn = (value: unknown): number => JSON.stringify(value).split('"cache_control"').length - 1;

  async function requestsOf(runtime: Partial<AgentRuntime>): Promise<Body[]> {
    await using server = await openProvider(protocol);
    await using fixture = await openTestRunner({ providers: protocol.settings(server.url) });
    const agent = { model: protocol.model, system: 'You are brief.', maxSteps: 5, ...runtime };
    const conversation = new Conversation(fixture, agent);
    const call = { call: 'call_1', name: 'calculator', input: '{"expression":"6*7"}' };
    server.enqueue({ parts: [call] }, { parts: [{ text: '42.' }] }, { parts: [{ text: 'Bye.' }] });
    await conversation.runTurn('How much?');
    await conversation.runTurn('Thanks.');
    return bodiesOf(server);
  }

  it('marks the tools, the system prompt, the last message, and the one of the request before', async () => {
    const bodies = await requestsOf({});
    expect(bodies).toHaveLength(3);
    for (const { tools, system, messages } of bodies) {
      expect((tools as Block[]).at(-1)).toMatchObject({ cache_control: MARK });
      expect(marksIn(tools)).toBe(1);
      expect(system).toEqual([{ type: 'text', text: 'You are brief.', cache_control: MARK }]);
      const contents = (messages as { content: Block[] }[]).map(({ content }) => content);
      expect(contents.at(-1)?.at(-1)).toMatchObject({ cache_control: MARK });
      expect(contents.at(-3)?.at(-1) ?? { cache_control: MARK }).toMatchObject({ cache_control: MARK });
      expect(marksIn(messages)).toBe(Math.min(2, (contents.length + 1) / 2));
    }
  });

  it('leaves the marks to the agent that has a cacheControl of its own', async () => {
    const modelOptionsJson = '{"cacheControl":{"type":"ephemeral","ttl":"1h"}}';
    for (const body of await requestsOf({ modelOptionsJson })) {
      expect(body.cache_control).toEqual({ type: 'ephemeral', ttl: '1h' });
      expect(marksIn([body.tools, body.system, body.messages])).toBe(0);
    }
  });
});

describe('caching at OpenAI', () => {
  const [, protocol] = PROTOCOLS as [(typeof PROTOCOLS)[0], (typeof PROTOCOLS)[0]];

  it.each([
    ['the session', '{}', 'ses_1'],
    ['the agent, if it has one', '{"promptCacheKey":"mine"}', 'mine'],
  ])('has the key of %s', async (_, modelOptionsJson, key) => {
    await using server = await openProvider(protocol);
    await using fixture = await openTestRunner({ providers: protocol.settings(server.url) });
    const conversation = new Conversation(fixture, { model: protocol.model, modelOptionsJson });
    server.enqueue({ parts: [{ text: 'Yes.' }] }, { parts: [{ text: 'No.' }] });
    await conversation.runTurn('Well?');
    await conversation.runTurn('And?');
    expect(bodiesOf(server).map((body) => body.prompt_cache_key)).toEqual([key, key]);
  });
});
