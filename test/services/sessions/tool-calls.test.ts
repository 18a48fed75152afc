import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { advanceUntil } from '../../support/wait.ts';
import { trackSessions } from './created-sessions.ts';
import { ADMINISTRATOR, claimTurn, claimTurns, MANAGER, OWNER, openSystem, STRANGER } from './system.ts';
import { blockedOn, createReporter, toolCallStep } from './turn-events.ts';

describe.each(TRANSPORTS)('SubmitToolResult and ListToolCalls over %s', (transport) => {
  const clock = createFakeClock();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { begin } = trackSessions(() => system);
  const submit = (sessionId: string, toolUseId: string, output: unknown, caller = OWNER) =>
    system.edge.submitToolResult(
      { sessionId, toolUseId, outputJson: JSON.stringify(output), isError: false },
      { caller },
    );
  const list = (sessionId: string, page = { limit: 50, cursor: '' }, caller = OWNER) =>
    system.edge.listToolCalls({ sessionId, status: '', page }, { caller });

  /** Creates a session with a turn that waits for the results of these calls. */
  async function waiting(...ids: string[]): Promise<string> {
    const sessionId = await begin('count for me');
    const turn = await claimTurn(system);
    const calls = ids.map((id) => ({ id, kind: 'tool_result' }));
    const events = toolCallStep('msg_1', ...calls);
    await createReporter(system, turn)({ events, outcome: blockedOn(...calls) });
    return sessionId;
  }

  it('a result makes the turn ready, with the result in its history and no open call', async () => {
    const sessionId = await waiting('call_1', 'call_2');
    await submit(sessionId, 'call_1', { n: 1 });
    expect(await claimTurns(system)).toEqual([]);
    clock.advance(2_500);
    const { toolCall } = await submit(sessionId, 'call_2', 2);
    expect(toolCall).toMatchObject({ status: 'answered', outputJson: '2', answeredBy: OWNER.userId });
    const turn = await claimTurn(system);
    expect(turn).toMatchObject({ sessionId, attempt: 2, openCalls: [] });
    const results = turn.messages.filter(({ type }) => type === 'agent.tool_result');
    expect(results.map(({ json }) => JSON.parse(json))).toMatchObject([
      { actor: { type: 'user', id: OWNER.userId }, data: { output: { n: 1 }, duration_ms: 0 } },
      { actor: { type: 'user', id: OWNER.userId }, data: { output: 2, duration_ms: 2_500 } },
    ]);
  });

  it('only the owner can answer, and other users do not learn that the session exists', async () => {
    const sessionId = await waiting('call_1');
    for (const caller of [MANAGER, ADMINISTRATOR])
      await expect(submit(sessionId, 'call_1', 1, caller)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const refusal = { code: 'SESSION_NOT_FOUND' };
    await expect(submit(sessionId, 'call_1', 1, STRANGER)).rejects.toMatchObject(refusal);
    await expect(list(sessionId, undefined, STRANGER)).rejects.toMatchObject(refusal);
    expect((await list(sessionId, undefined, MANAGER)).toolCalls).toMatchObject([{ status: 'pending' }]);
  });

  it('of concurrent results one is stored', async () => {
    const sessionId = await waiting('call_1');
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => submit(sessionId, 'call_1', index)),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await list(sessionId)).toolCalls).toMatchObject([{ status: 'answered' }]);
  });

  it('a call expires after the time limit, and the turn becomes ready', async () => {
    const sessionId = await waiting('call_1');
    clock.advance(600_000);
    const turn = await advanceUntil(
      'the turn is ready',
      () => clock.advance(250),
      async () => (await claimTurns(system))[0],
    );
    expect(turn).toMatchObject({ sessionId, openCalls: [] });
    await expect(submit(sessionId, 'call_1', 1)).rejects.toMatchObject({ code: 'TOOL_CALL_CLOSED' });
  });

  it('pages end early when the results are long, and have every call once', async () => {
    const ids = ['call_1', 'call_2', 'call_3', 'call_4'];
    const sessionId = await waiting(...ids);
    for (const id of ids) await submit(sessionId, id, 'x'.repeat(1_600_000));
    const pages: string[][] = [];
    for (let cursor = ''; pages.length < 10; ) {
      const { toolCalls, page } = await list(sessionId, { limit: 50, cursor });
      pages.push(toolCalls.map(({ toolUseId }) => toolUseId));
      cursor = page?.nextCursor ?? '';
      if (cursor === '') break;
    }
    expect(pages).toEqual([
      ['call_4', 'call_3'],
      ['call_2', 'call_1'],
    ]);
  });

  it('the report of a turn is refused that waits for a call which was not journalled as a client call', async () => {
    await begin('count for me');
    const turn = await claimTurn(system);
    const report = createReporter(system, turn);
    await report({ events: toolCallStep('msg_1', { id: 'call_1' }) });
    const outcome = blockedOn({ id: 'call_1', kind: 'tool_result' });
    await expect(report({ outcome })).rejects.toThrow('INVALID_REQUEST');
  });
});
