import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { roleOf } from '../../../lib/db/roles.ts';
import { sha256 } from '../../../lib/digest.ts';
import { createFakeClock } from '../../support/clock.ts';
import { runOn } from '../../support/sql.ts';
import {
  AGENT,
  COMPLETED,
  claimTurn,
  claimTurns,
  createConversation,
  OWNER,
  openSystem,
  reportFor,
  STRANGER,
  sendReports,
  sendText,
} from './system.ts';
import { blockedOn, createReporter, toolCallStep } from './turn-events.ts';

/** A runner that stops returns its turns. */
const STOPPING = {
  kind: {
    $case: 'retry' as const,
    value: { error: { code: 'runner_stopping', message: 'stopping' }, delayMs: 0 },
  },
};

describe('ClaimTurns when a read fails', () => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeEach(async () => {
    system = await openSystem('in process');
  });
  afterEach(() => system[Symbol.asyncDispose]());

  /** Takes the privilege to read the table from the service, runs `work` and gives it back. */
  async function withUnreadable<Result>(table: string, work: () => Promise<Result>): Promise<Result> {
    const privilege = `select on sessions.${table}`;
    await runOn(system.database.url, `revoke ${privilege} from ${roleOf('sessions')}`);
    try {
      return await work();
    } finally {
      await runOn(system.database.url, `grant ${privilege} to ${roleOf('sessions')}`);
    }
  }

  it('answers without messages when the messages cannot be read', async () => {
    const sessionId = await createConversation(system, 'hello');
    const [turn] = await withUnreadable('journal', () => claimTurns(system));
    expect(turn).toMatchObject({ sessionId, attempt: 1, messages: [], messagesIncomplete: true });
    if (!turn) throw new Error('no turn');
    const { events } = await system.runner.listMessages({ sessionId, page: undefined });
    expect(events.map(({ type }) => type)).toEqual(['user.message']);
    const finished = await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    expect(finished).toEqual([{ errorCode: '', errorMessage: '', followed: false, steered: false }]);
  });

  it('leaves the turns in the queue when their approvals cannot be read', async () => {
    const sessionId = await createConversation(system, 'count');
    const call = { id: 'call_1' };
    const first = await claimTurn(system);
    await createReporter(system, first)({ events: toolCallStep('msg_1', call), outcome: blockedOn(call) });
    const request = { sessionId, status: '', page: undefined };
    const { approvals } = await system.edge.listApprovals(request, { caller: OWNER });
    const approvalId = approvals[0]?.approvalId ?? '';
    const decision = { sessionId, approvalId, decision: 'allow', reason: '', editedInputJson: '' };
    await system.edge.decideApproval(decision, { caller: OWNER });
    await expect(withUnreadable('approvals', () => claimTurns(system))).rejects.toMatchObject({
      code: 'INTERNAL',
    });
    const again = await claimTurn(system);
    expect(again).toMatchObject({ turnId: first.turnId, attempt: 2 });
    expect(again.openCalls).toMatchObject([{ toolUseId: 'call_1', decision: { decision: 'allow' } }]);
  });
});

describe('ClaimTurns after agent.tools_offered', () => {
  it('answers with the digest of the newest event of the session, also in later turns', async () => {
    await using system = await openSystem('in process');
    const sessionId = await createConversation(system, 'one');
    await sendText(system, sessionId, 'two');
    const event = (review: number) => {
      const tools = [{ name: 'mcp__example__find', server: 'example', review }];
      return { type: 'agent.tools_offered', dataJson: JSON.stringify({ sha256: 'abc', tools }) };
    };
    const first = await claimTurn(system);
    expect(first.toolsOfferedSha256).toBeUndefined();
    const report = createReporter(system, first);
    await report({ events: [event(1), event(2)] });
    await report({ outcome: STOPPING });
    const again = await claimTurn(system);
    expect(again).toMatchObject({ turnId: first.turnId, attempt: 2 });
    expect(again.toolsOfferedSha256).toBe(sha256(event(2).dataJson));
    await createReporter(system, again)({ outcome: COMPLETED });
    expect((await claimTurn(system)).toolsOfferedSha256).toBe(sha256(event(2).dataJson));
  });
});

describe('ClaimTurns with turns of several owners', () => {
  it('starts triggered turns of every owner in turn while interactive turns wait', async () => {
    await using system = await openSystem('in process');
    const OWNERS = 11;
    const digits = (n: number) => String(n).padStart(26, '0');
    for (let n = 0; n < 3 * OWNERS; n++)
      await system.deployments.createSession({
        deploymentId: `dep_${digits(1)}`,
        agentId: AGENT,
        agentVersion: 3,
        ownerId: `usr_${digits(100 + (n % OWNERS))}`,
        text: 'hook',
        bodyBytes: 4,
        sourceAddress: '::1',
        invocationId: `inv_${digits(n)}`,
      });
    const picks = 5 * OWNERS;
    await Promise.all(Array.from({ length: picks }, (_, n) => createConversation(system, `${n}`)));
    const owners: string[] = [];
    for (let pick = 0; pick < picks; pick++) owners.push((await claimTurn(system)).ownerId);
    const triggered = owners.filter((ownerId) => ownerId !== OWNER.userId);
    expect(triggered).toHaveLength(OWNERS);
    expect(new Set(triggered).size).toBe(OWNERS);
  });

  it('fills the slots of later claims when one owner has more turns than its share', async () => {
    // Without time, a claim depends on neither the interval of picks nor a hint.
    await using system = await openSystem('in process', { clock: createFakeClock() });
    await Promise.all(Array.from({ length: 30 }, (_, n) => createConversation(system, `${n}`)));
    await createConversation(system, 'of another owner', AGENT, STRANGER);
    const claim = async (runnerId: string) => {
      const { turns } = await system.runner.claimTurns({ runnerId, slots: 30, waitMs: 20_000 });
      return turns.length;
    };
    const first = await claim('rnr_1');
    expect(first).toBeLessThan(30);
    expect(await claim('rnr_2')).toBe(31 - first);
  });
});
