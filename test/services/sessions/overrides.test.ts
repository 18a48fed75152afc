import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import {
  AGENT,
  COMPLETED,
  claimTurn,
  content,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  sendReports,
  sendText,
} from './system.ts';

const caller = { caller: OWNER };

describe.each(TRANSPORTS)('overrides, %s', (transport) => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function start(overrides: object, text = 'Hello') {
    const request = {
      agentId: AGENT,
      contentJson: content(text),
      title: '',
      metadata: {},
      idempotencyKey: '',
    };
    const json = JSON.stringify(overrides);
    const { session, turnId } = await system.edge.createConversation(
      { ...request, overrides: { json } },
      caller,
    );
    return { sessionId: session!.sessionId, turnId: turnId! };
  }

  function send(sessionId: string, overrides: object, idempotencyKey = '') {
    const request = { sessionId, contentJson: content('And?'), busyPolicy: 'enqueue', idempotencyKey };
    return system.edge.sendMessage({ ...request, overrides: { json: JSON.stringify(overrides) } }, caller);
  }

  async function runTurn() {
    const turn = await claimTurn(system);
    await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    return JSON.parse(turn.overridesJson ?? 'null');
  }

  async function queuedOverrides(sessionId: string) {
    const events = (await journalOf(system, sessionId)).map(({ json }) => JSON.parse(json));
    return events.filter(({ type }) => type === 'turn.queued').map(({ data }) => data.overrides);
  }

  it('of a conversation hold for all its turns, and those of a message for its turn, before them', async () => {
    const ofSession = { model: 'rehearsal/echo', max_steps: 2 };
    const { sessionId, turnId } = await start(ofSession);
    expect(await runTurn()).toEqual(ofSession);
    await sendText(system, sessionId, 'plain');
    expect(await runTurn()).toEqual(ofSession);
    await send(sessionId, { max_steps: 5 });
    const merged = { ...ofSession, max_steps: 5 };
    expect(await runTurn()).toEqual(merged);
    await sendText(system, sessionId, 'plain');
    expect(await runTurn()).toEqual(ofSession);
    expect(await queuedOverrides(sessionId)).toEqual([ofSession, ofSession, merged, ofSession]);
    const { turn } = await system.edge.getTurn({ sessionId, turnId }, caller);
    expect(JSON.parse(turn!.overridesJson!)).toEqual(ofSession);
  });

  it('are absent from turns without them, which need no call of the agents service', async () => {
    const before = system.neighbourCalls.resolved.length;
    const sessionId = await createConversation(system, 'Hello');
    expect((await claimTurn(system)).overridesJson).toBeUndefined();
    await sendText(system, sessionId, 'And?');
    expect(await queuedOverrides(sessionId)).toEqual([undefined, undefined]);
    expect(system.neighbourCalls.resolved).toHaveLength(before);
  });

  it('that the agents service refuses leave no session, no message and no idempotency key behind', async () => {
    const { sessionId } = await start({ max_steps: 1 });
    await runTurn();
    const before = await journalOf(system, sessionId);
    const refusal = { code: 'OVERRIDE_NOT_ALLOWED', details: [{ pointer: '/max_steps' }] };
    await expect(send(sessionId, { max_steps: 0 }, 'k')).rejects.toMatchObject(refusal);
    await expect(start({ max_steps: 0 })).rejects.toMatchObject(refusal);
    expect(await journalOf(system, sessionId)).toEqual(before);
    expect((await send(sessionId, { max_steps: 3 }, 'k')).replayed).toBe(false);
    expect((await send(sessionId, { max_steps: 3 }, 'k')).replayed).toBe(true);
    await expect(send(sessionId, { max_steps: 4 }, 'k')).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_CONFLICT',
    });
    await runTurn();
  });

  it('of a session are copied to its forks and checked when its agent version changes', async () => {
    const { sessionId } = await start({ max_steps: 4 });
    await runTurn();
    const fork = { sessionId, afterSeq: 2, idempotencyKey: `fork-${transport}` };
    const { session } = await system.edge.forkSession(fork, caller);
    await sendText(system, session!.sessionId, 'And?');
    expect(await runTurn()).toEqual({ max_steps: 4 });
    await system.edge.setAgentVersion({ sessionId, version: 4 }, caller);
    expect(system.neighbourCalls.resolved.at(-1)).toBe(4);
  });

  it('and the output of a turn are returned with the turn; a page of turns ends early at 4 MiB of them', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    const { sessionId, turnId } = await start({ max_steps: 1 });
    const outputs = [large, large, 'small'];
    for (const [index, output] of outputs.entries()) {
      if (index > 0) await sendText(system, sessionId, 'And?');
      const value = { stopReason: 'end_turn', outputJson: JSON.stringify(output) };
      const turn = await claimTurn(system);
      await sendReports(system, reportFor(turn, 1, { outcome: { kind: { $case: 'completed', value } } }));
    }
    const { turn } = await system.edge.getTurn({ sessionId, turnId }, caller);
    expect(JSON.parse(turn!.outputJson!)).toBe(large);
    const pages: number[] = [];
    const listed: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const request = { sessionId, page: { limit: 100, cursor }, unfinished: false };
      const { turns, page } = await system.edge.listTurns(request, caller);
      pages.push(turns.length);
      listed.push(...turns.map(({ outputJson }) => JSON.parse(outputJson!)));
      cursor = page?.nextCursor || undefined;
    }
    expect(pages).toEqual([2, 1]);
    expect(listed).toEqual(outputs);
  });
});
