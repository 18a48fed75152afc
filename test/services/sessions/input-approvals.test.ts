import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { captureLog } from '../../support/captured-log.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn, runOn } from '../../support/sql.ts';
import { advanceUntil } from '../../support/wait.ts';
import {
  approvalsOf,
  blockedWith,
  blockTurn,
  decide,
  FORM_DETAILS,
  inputAsk,
  LINK_DETAILS,
  STATE,
} from './call-approvals.ts';
import { trackSessions } from './created-sessions.ts';
import { claimTurn, claimTurns, journalOf, OWNER, openSystem, STRANGER } from './system.ts';
import { createReporter, toolDispatched } from './turn-events.ts';

const caller = OWNER;

describe.each(TRANSPORTS)('approvals of kind input over %s', (transport) => {
  const clock = createFakeClock();
  const { log, lines } = captureLog();
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, { clock, log });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { track } = trackSessions(() => system);
  // Turns that a decision has queued are started, so that deleting their sessions ends their calls.
  afterEach(() => claimTurns(system));
  const blockOn = async (...asks: Parameters<typeof blockTurn>[1]) => {
    const blocked = await blockTurn(system, asks);
    track(blocked.sessionId);
    return blocked;
  };
  const accept = (content: unknown) => ({ contentJson: JSON.stringify(content) });

  it('block the turn with the form and give the runner content and state', async () => {
    const { sessionId, approvals } = await blockOn(inputAsk('call_1'));
    expect(approvals).toMatchObject([{ kind: 'input', inputJson: '{"by":"call_1"}' }]);
    expect(JSON.parse(approvals[0]?.detailsJson ?? '')).toEqual(FORM_DETAILS);
    const { session } = await system.edge.getSession({ sessionId }, { caller });
    expect(JSON.parse(session?.stopReasonJson ?? '')).toMatchObject({ kind: 'input' });
    expect(session?.state).toBe('needs_input');
    await decide(system, approvals[0], 'accept', accept({ branch: 'main' }));
    const { openCalls } = await claimTurn(system);
    const decision = {
      kind: 'input',
      decision: 'accept',
      contentJson: '{"branch":"main"}',
      inputJson: '{"by":"call_1"}',
    };
    expect(openCalls).toMatchObject([
      { dispatches: 1, decision: { ...decision, dispatches: 1 }, answer: decision },
    ]);
    expect(Buffer.from(openCalls[0]?.decision?.state ?? [])).toEqual(STATE);
    expect(Buffer.from(openCalls[0]?.answer?.state ?? [])).toEqual(STATE);
  });

  it('show neither state nor content in any answer, event or log line', async () => {
    const { sessionId, approvals } = await blockOn(inputAsk('call_1'));
    const decided = await decide(system, approvals[0], 'accept', accept({ branch: 'canary-content' }));
    const shown = JSON.stringify([
      approvals,
      decided,
      await approvalsOf(system, sessionId),
      await journalOf(system, sessionId),
      await system.edge.getSession({ sessionId }, { caller }),
      await system.edge.listTurns(
        { sessionId, page: { limit: 10, cursor: '' }, unfinished: false },
        { caller },
      ),
      lines,
    ]);
    for (const form of ['utf8', 'base64', 'hex'] as const)
      expect(shown).not.toContain(STATE.toString(form).replaceAll('=', ''));
    expect(shown).not.toContain('canary-content');
  });

  it('keep the state sealed for its approval in the database', async () => {
    const { approvals } = await blockOn(inputAsk('call_1'));
    const { url } = system.database;
    const id = approvals[0]?.approvalId;
    const rows = await rowsOn<{ state: Buffer }>(
      url,
      `select state from sessions.approvals where approval_id = '${id}'`,
    );
    expect(rows[0]?.state.includes(STATE)).toBe(false);
    const other = await blockOn(inputAsk('call_1'));
    await runOn(
      url,
      `update sessions.approvals set state = (select state from sessions.approvals where approval_id = '${id}')
       where approval_id = '${other.approvals[0]?.approvalId}'`,
    );
    await decide(system, other.approvals[0], 'accept', accept({ branch: 'main' }));
    const { openCalls } = await claimTurn(system);
    expect(openCalls[0]?.answer?.state?.length).toBe(0);
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'the state of a call cannot be opened; its tool gets an empty one' }),
    );
  });

  it.each([
    ['decline', {}],
    ['cancel', {}],
  ])('can be answered with %s', async (decision, more) => {
    const { approvals } = await blockOn(inputAsk('call_1'));
    await decide(system, approvals[0], decision, more);
    expect((await claimTurn(system)).openCalls).toMatchObject([
      { decision: { kind: 'input', decision }, answer: { decision, contentJson: undefined } },
    ]);
  });

  it.each<[string, string, { contentJson?: string }, string]>([
    ['a decision of another kind', 'retry', {}, '/decision'],
    ['no content', 'accept', {}, '/content'],
    ['content without a required field', 'accept', { contentJson: '{}' }, '/content/branch'],
    ['content with a short text', 'accept', { contentJson: '{"branch":"x"}' }, '/content/branch'],
    ['content with an unknown field', 'accept', { contentJson: '{"branch":"main","x":1}' }, '/content/x'],
    ['content that is no object', 'accept', { contentJson: '[]' }, '/content'],
    ['content of a declined form', 'decline', { contentJson: '{"branch":"main"}' }, '/content'],
  ])('refuse %s and stay open', async (_, decision, more, pointer) => {
    const { approvals } = await blockOn(inputAsk('call_1'));
    await expect(decide(system, approvals[0], decision, more)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [expect.objectContaining({ pointer })],
    });
    expect(await claimTurns(system)).toEqual([]);
    expect(await decide(system, approvals[0], 'accept', accept({ branch: 'main' }))).toMatchObject({
      status: 'decided',
    });
  });

  it('of a link are accepted without content', async () => {
    const { approvals } = await blockOn(inputAsk('call_1', LINK_DETAILS));
    await expect(decide(system, approvals[0], 'accept', accept({ branch: 'main' }))).rejects.toMatchObject({
      details: [expect.objectContaining({ pointer: '/content' })],
    });
    await decide(system, approvals[0], 'accept');
    expect((await claimTurn(system)).openCalls[0]?.answer).toMatchObject({ decision: 'accept' });
  });

  it('return the first decision again for equal content, and refuse other content', async () => {
    const { approvals } = await blockOn(inputAsk('call_1'));
    const content = { branch: 'main', force: true };
    await decide(system, approvals[0], 'accept', accept(content));
    const reordered = accept({ force: true, branch: 'main' });
    expect(await decide(system, approvals[0], 'accept', reordered)).toMatchObject({ decision: 'accept' });
    for (const [decision, more] of [
      ['accept', accept({ branch: 'other' })],
      ['decline', {}],
    ] as const)
      await expect(decide(system, approvals[0], decision, more)).rejects.toMatchObject({
        code: 'APPROVAL_ALREADY_DECIDED',
      });
  });

  it('are decided by the owner of the session only', async () => {
    const { approvals } = await blockOn(inputAsk('call_1'));
    await expect(
      decide(system, approvals[0], 'accept', accept({ branch: 'main' }), STRANGER),
    ).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('expire, which the tool is told', async () => {
    const { sessionId } = await blockOn(inputAsk('call_1'));
    const expired = async () => (await approvalsOf(system, sessionId))[0]?.status === 'expired';
    await advanceUntil('the approval has expired', () => clock.advance(30_000), expired);
    expect((await claimTurn(system)).openCalls).toMatchObject([
      { decision: { kind: 'input', decision: 'expired' }, answer: { decision: 'expired' } },
    ]);
    const events = (await journalOf(system, sessionId)).map(({ json }) => JSON.parse(json));
    expect(events.filter(({ type }) => type === 'approval.decided')).toMatchObject([
      { data: { decision: 'cancel', by: 'system', reason: 'expired' } },
    ]);
  });

  it('keep the answer for a call that was cut off after its dispatch', async () => {
    const { sessionId, approvals } = await blockOn(inputAsk('call_1'));
    await decide(system, approvals[0], 'accept', accept({ branch: 'main' }));
    const turn = await claimTurn(system);
    const unknown = { kind: 'outcome_unknown', toolUseId: 'call_1', toolName: 'count', inputJson: '{}' };
    await createReporter(
      system,
      turn,
    )({
      events: [toolDispatched('call_1', 2, turn.fence)],
      outcome: blockedWith(unknown),
    });
    await decide(system, (await approvalsOf(system, sessionId))[1], 'retry');
    const [call] = (await claimTurn(system)).openCalls;
    expect(call).toMatchObject({
      dispatches: 2,
      decision: { kind: 'outcome_unknown', decision: 'retry', dispatches: 2 },
      answer: { decision: 'accept', contentJson: '{"branch":"main"}' },
    });
    expect(Buffer.from(call?.answer?.state ?? [])).toEqual(STATE);
  });

  it.each([
    ['without a state', { state: undefined }],
    ['with a state over 64 KiB', { state: Buffer.alloc(64 * 1024 + 1) }],
  ])('are refused %s', async (_, more) => {
    const { approvals } = await blockOn(inputAsk('call_1'));
    await decide(system, approvals[0], 'cancel');
    const report = createReporter(system, await claimTurn(system));
    await expect(report({ outcome: blockedWith({ ...inputAsk('call_1'), ...more }) })).rejects.toThrow(
      'INVALID_REQUEST',
    );
  });

  it('accept a text of the server with an escaped NUL', async () => {
    const { approvals } = await blockOn(inputAsk('call_1', { ...FORM_DETAILS, message: 'a\u0000b' }));
    expect(JSON.parse(approvals[0]?.detailsJson ?? '')).toMatchObject({ message: 'a\u0000b' });
  });
});
