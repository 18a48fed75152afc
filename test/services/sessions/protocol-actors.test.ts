import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROTOCOLS } from '../../../lib/event-types.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { authorizationAsk, blockTurn, decide } from './call-approvals.ts';
import { trackSessions } from './created-sessions.ts';
import { claimTurn, createConversation, journalOf, OWNER, openSystem } from './system.ts';
import { blockedOn, createReporter, toolCallStep } from './turn-events.ts';

const TOKEN = 'tok_00000000000000000000000001';

describe.each(TRANSPORTS)('requests of protocols over %s', (transport) => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { track } = trackSessions(() => system);
  const actorsOf = async (sessionId: string, type: string) =>
    (await journalOf(system, sessionId))
      .filter((event) => event.type === type)
      .map(({ json }) => JSON.parse(json).actor);

  async function listedSource(sessionId: string) {
    const page = { limit: 1, cursor: '' };
    const filter = { agentId: '', deploymentId: '', status: '', states: [], q: sessionId };
    const { sessions } = await system.edge.listSessions({ page, ...filter }, { caller: OWNER });
    const [listed] = sessions;
    return { source: listed?.source, tokenId: listed?.tokenId };
  }

  it.each(PROTOCOLS)(
    'a session created with %s names it as source, and the token as actor',
    async (protocol) => {
      const caller = { ...OWNER, credential: TOKEN, protocol };
      const sessionId = track(await createConversation(system, 'hello', undefined, caller));
      const [created] = await journalOf(system, sessionId);
      expect(JSON.parse(created?.json ?? '')).toMatchObject({
        data: { source: protocol },
        actor: { type: protocol, id: TOKEN },
      });
      expect(await actorsOf(sessionId, 'user.message')).toEqual([{ type: protocol, id: TOKEN }]);
      expect(await listedSource(sessionId)).toEqual({ source: protocol, tokenId: TOKEN });
    },
  );

  it('a session created with the REST API and a fork have a source and no token', async () => {
    const sessionId = track(await createConversation(system, 'hello', undefined, OWNER));
    const { session } = await system.edge.forkSession(
      { sessionId, afterSeq: 1, idempotencyKey: '' },
      { caller: OWNER },
    );
    const forkId = track(session?.sessionId ?? '');
    expect(session?.source).toBe('fork');
    expect(await listedSource(sessionId)).toEqual({ source: 'conversation', tokenId: undefined });
    expect(await listedSource(forkId)).toEqual({ source: 'fork', tokenId: undefined });
  });

  it('the user is the actor if the credential is an access token of the identity provider', async () => {
    const caller = { ...OWNER, credential: 'access_token', protocol: 'mcp' as const };
    const sessionId = track(await createConversation(system, 'hello', undefined, caller));
    expect(await actorsOf(sessionId, 'session.created')).toEqual([{ type: 'mcp', id: OWNER.userId }]);
    expect(await listedSource(sessionId)).toEqual({ source: 'mcp', tokenId: undefined });
  });

  it('the user decides an approval and answers a call, and the token is the actor', async () => {
    const caller = { ...OWNER, credential: TOKEN, protocol: 'mcp' as const };
    const actor = { type: 'mcp', id: TOKEN };
    const ask = { ...authorizationAsk('call_1'), kind: 'tool', detailsJson: undefined };
    const { sessionId, approvals } = await blockTurn(system, [ask]);
    track(sessionId);
    const decided = await decide(system, approvals[0], 'allow', {}, caller);
    expect(decided?.decidedBy).toBe(OWNER.userId);
    expect(await actorsOf(sessionId, 'user.tool_approval')).toEqual([actor]);

    await system.edge.deleteSession({ sessionId }, { caller: OWNER });
    const second = track(await createConversation(system, 'count for me'));
    const call = { id: 'call_2', kind: 'tool_result' };
    const turn = await claimTurn(system);
    const events = toolCallStep('msg_1', call);
    await createReporter(system, turn)({ events, outcome: blockedOn(call) });
    const request = { sessionId: second, toolUseId: 'call_2', outputJson: '1', isError: false };
    const { toolCall } = await system.edge.submitToolResult(request, { caller });
    expect(toolCall?.answeredBy).toBe(OWNER.userId);
    expect(await actorsOf(second, 'agent.tool_result')).toEqual([actor]);
  });
});
