import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClaimedTurn, Sandbox } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { advanceUntil } from '../../support/wait.ts';
import {
  ADMINISTRATOR,
  AGENT,
  ASSISTANT,
  COMPLETED,
  claimTurn,
  claimTurns,
  content,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  STRANGER,
  sendReports,
  sendText,
} from './system.ts';

describe.each(TRANSPORTS)('sandboxes over %s', (transport) => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  const clock = createFakeClock();
  let sandboxCount = 0;
  beforeAll(async () => {
    system = await openSystem(transport, { clock });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const newId = () => `sbx_${String(++sandboxCount).padStart(26, '0')}`;
  const leaseOf = ({ sessionId, turnId, fence }: ClaimedTurn) => ({ sessionId, turnId, fence });

  function takeSandbox(turn: ClaimedTurn, sandboxId: string, more: Partial<Sandbox> = {}) {
    return system.runner.takeSandbox({
      runnerId: 'rnr_1',
      lease: leaseOf(turn),
      sandboxId,
      provider: 'simulated',
      isolation: 'simulation',
      tenancy: 'session',
      tenantId: turn.sessionId,
      environmentId: 'env_1',
      environmentVersion: 1,
      limitsJson: '{}',
      ...more,
    });
  }

  function report(sandboxId: string, status: string, runnerId = 'rnr_1', reason = '') {
    return system.runner.reportSandboxes({ runnerId, sandboxes: [{ sandboxId, status, reason }] });
  }

  async function startTurn(): Promise<ClaimedTurn> {
    await createConversation(system, 'hello');
    return claimTurn(system);
  }

  async function sessionOf(sessionId: string) {
    const { session } = await system.edge.getSession({ sessionId }, { caller: OWNER });
    return session;
  }

  async function changesOf(sessionId: string): Promise<string[]> {
    const events = await journalOf(system, sessionId);
    const changes = events.filter(({ type }) => type === 'environment.status_changed');
    return changes.map(({ json }) => {
      const { data } = JSON.parse(json);
      return `${data.from} → ${data.to}`;
    });
  }

  const end = (turn: ClaimedTurn) => sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));

  it('TakeSandbox assigns a sandbox and reports change the environment status', async () => {
    const turn = await startTurn();
    const sandboxId = newId();
    expect(await takeSandbox(turn, sandboxId)).toEqual({ granted: true });
    await report(sandboxId, 'ready');
    await end(turn);
    await report(sandboxId, 'suspended');
    const session = await sessionOf(turn.sessionId);
    expect(session).toMatchObject({
      environmentStatus: 'suspended',
      sandboxId,
      sandboxProvider: 'simulated',
    });
    expect(await changesOf(turn.sessionId)).toEqual([
      'none → provisioning',
      'provisioning → ready',
      'ready → suspended',
    ]);
  });

  it('TakeSandbox assigns an existing sandbox to a later turn', async () => {
    const turn = await startTurn();
    const sandboxId = newId();
    await takeSandbox(turn, sandboxId);
    await report(sandboxId, 'ready');
    await end(turn);
    await report(sandboxId, 'suspended');
    await sendText(system, turn.sessionId, 'more');
    const next = await claimTurn(system);
    expect(await takeSandbox(next, sandboxId)).toEqual({ granted: true });
    expect((await sessionOf(turn.sessionId))?.environmentStatus).toBe('restoring');
    await report(sandboxId, 'ready');
    expect((await changesOf(turn.sessionId)).slice(-2)).toEqual([
      'suspended → restoring',
      'restoring → ready',
    ]);
    await end(next);
  });

  it('TakeSandbox assigns a new sandbox to several sessions of an agent at the same time', async () => {
    const turns = [await startTurn(), await startTurn(), await startTurn()];
    const shared = { tenancy: 'agent', tenantId: AGENT };
    for (let attempt = 0; attempt < 5; attempt++) {
      const sandboxId = newId();
      const taken = await Promise.all(turns.map((turn) => takeSandbox(turn, sandboxId, shared)));
      expect(taken).toEqual(turns.map(() => ({ granted: true })));
    }
    for (const turn of turns) await end(turn);
  });

  it('TakeSandbox refuses a runner without the lease with LEASE_LOST', async () => {
    const turn = await startTurn();
    const late = { ...turn, fence: turn.fence - 1 };
    await expect(takeSandbox(late, newId())).rejects.toMatchObject({ code: 'LEASE_LOST' });
    clock.advance(16_000);
    await expect(takeSandbox(turn, newId())).rejects.toMatchObject({ code: 'LEASE_LOST' });
    const again = await advanceUntil(
      'the turn is queued again',
      () => clock.advance(250),
      async () => (await claimTurns(system)).at(0),
    );
    await end(again);
  });

  it('ends the sandbox of another runner that a new one replaces', async () => {
    const turn = await startTurn();
    const [old, fresh] = [newId(), newId()];
    await takeSandbox(turn, old, { runnerId: 'rnr_2' });
    await report(old, 'ready', 'rnr_2');
    await takeSandbox(turn, fresh);
    expect(await report(old, 'ready', 'rnr_2')).toEqual({ endSandboxIds: [old] });
    expect(await report(fresh, 'ready')).toEqual({ endSandboxIds: [] });
    expect(await sessionOf(turn.sessionId)).toMatchObject({ environmentStatus: 'ready', sandboxId: fresh });
    await end(turn);
  });

  it('keeps one shared sandbox of an agent per runner', async () => {
    const [one, other] = [await startTurn(), await startTurn()];
    const [here, there] = [newId(), newId()];
    const shared = { tenancy: 'agent', tenantId: one.agentId };
    await takeSandbox(one, here, shared);
    await takeSandbox(other, there, { ...shared, runnerId: 'rnr_2' });
    expect(await report(here, 'ready')).toEqual({ endSandboxIds: [] });
    expect(await report(there, 'ready', 'rnr_2')).toEqual({ endSandboxIds: [] });
    await Promise.all([end(one), end(other)]);
  });

  it('marks a sandbox as lost when its runner does not report for a minute', async () => {
    const turn = await startTurn();
    const sandboxId = newId();
    await takeSandbox(turn, sandboxId, { runnerId: 'rnr_silent' });
    await report(sandboxId, 'ready', 'rnr_silent');
    await end(turn);
    clock.advance(61_000);
    await advanceUntil(
      'the sandbox counts as lost',
      () => clock.advance(250),
      async () => (await sessionOf(turn.sessionId))?.environmentStatus === 'lost',
    );
    await sendText(system, turn.sessionId, 'go on');
    const next = await claimTurn(system);
    expect(await takeSandbox(next, sandboxId)).toEqual({ granted: false });
    expect(await takeSandbox(next, newId())).toEqual({ granted: true });
    expect((await sessionOf(turn.sessionId))?.environmentStatus).toBe('restoring');
    await end(next);
  });

  it('lets only administrators list and terminate sandboxes', async () => {
    const turn = await startTurn();
    const sandboxId = newId();
    await takeSandbox(turn, sandboxId);
    await report(sandboxId, 'ready');
    await end(turn);
    const request = { sandboxId };
    await expect(system.edge.getSandbox(request, { caller: STRANGER })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    const page = { limit: 100, cursor: '' };
    const listed = await system.edge.listSandboxes({ page, status: '' }, { caller: ADMINISTRATOR });
    expect(listed.sandboxes.map((one) => one.sandboxId)).toContain(sandboxId);
    const { sandbox } = await system.edge.terminateSandbox(request, { caller: ADMINISTRATOR });
    expect(sandbox).toMatchObject({ status: 'ready', tenantId: turn.sessionId, ownerId: OWNER.userId });
    expect(system.auth.takeActs()).toEqual([
      `${ADMINISTRATOR.userId} sandbox.terminate ${request.sandboxId}`,
    ]);
    expect(await report(sandboxId, 'ready')).toEqual({ endSandboxIds: [sandboxId] });
    await report(sandboxId, 'released', 'rnr_1', 'terminated');
    expect((await system.edge.getSandbox(request, { caller: ADMINISTRATOR })).sandbox).toMatchObject({
      status: 'released',
    });
    expect((await sessionOf(turn.sessionId))?.environmentStatus).toBe('released');
    const ended = await system.edge.listSandboxes({ page, status: 'ended' }, { caller: ADMINISTRATOR });
    expect(ended.sandboxes.map((one) => one.sandboxId)).toContain(sandboxId);
  });

  it('ends the sandbox of a deleted session', async () => {
    const turn = await startTurn();
    const sandboxId = newId();
    await takeSandbox(turn, sandboxId);
    await report(sandboxId, 'ready');
    await system.edge.deleteSession({ sessionId: turn.sessionId }, { caller: OWNER });
    expect(await report(sandboxId, 'ready')).toEqual({ endSandboxIds: [sandboxId] });
  });

  it('tells the runner to end an unknown sandbox', async () => {
    const sandboxId = newId();
    expect(await report(sandboxId, 'ready')).toEqual({ endSandboxIds: [sandboxId] });
    const reading = system.edge.getSandbox({ sandboxId }, { caller: ADMINISTRATOR });
    await expect(reading).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
  });

  it('claims one turn of an assistant at a time', async () => {
    const begin = async () => {
      const { session } = await system.edge.createConversation(
        { agentId: ASSISTANT, contentJson: content('hello'), title: '', metadata: {}, idempotencyKey: '' },
        { caller: OWNER },
      );
      return session;
    };
    const sessions = [await begin(), await begin(), await begin()];
    expect(sessions[0]).toMatchObject({ assistantId: ASSISTANT, agentId: '', agentVersion: 0 });
    const claimed = async (runnerId: string) =>
      (await claimTurns(system, 10, runnerId)).filter(({ agentId }) => agentId === ASSISTANT);
    const claimedSessions: string[] = [];
    for (const _ of sessions) {
      const [one, ...others] = await claimed('rnr_1');
      expect(others).toEqual([]);
      if (!one) throw new Error('no turn of the assistant was claimed');
      expect(await claimed('rnr_2')).toEqual([]);
      claimedSessions.push(one.sessionId);
      await end(one);
    }
    expect(claimedSessions.toSorted()).toEqual(sessions.map((session) => session?.sessionId).toSorted());
    const sessionId = claimedSessions[0] ?? '';
    expect(await sendText(system, sessionId, 'more')).toMatchObject({ replayed: false });
    system.neighbourCalls.assistantIsDeleted = true;
    await expect(sendText(system, sessionId, 'and more')).rejects.toMatchObject({
      code: 'ASSISTANT_NOT_FOUND',
    });
  });
});
