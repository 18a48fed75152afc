import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClaimedTurn, Sandbox } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { passing, until } from '../../support/wait.ts';
import {
  ADMINISTRATOR,
  ASSISTANT,
  COMPLETED,
  claim,
  claimOne,
  content,
  converse,
  journalOf,
  OWNER,
  openHouse,
  reportOn,
  STRANGER,
  say,
  send,
} from './house.ts';

describe.each(TRANSPORTS)('sandboxes of sessions, %s', (transport) => {
  let house: Awaited<ReturnType<typeof openHouse>>;
  const clock = createFakeClock();
  let made = 0;
  beforeAll(async () => {
    house = await openHouse(transport, { clock });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const newId = () => `sbx_${String(++made).padStart(26, '0')}`;
  const leaseOf = ({ sessionId, turnId, fence }: ClaimedTurn) => ({ sessionId, turnId, fence });

  function take(turn: ClaimedTurn, sandboxId: string, more: Partial<Sandbox> = {}) {
    return house.runner.takeSandbox({
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
    return house.runner.reportSandboxes({ runnerId, sandboxes: [{ sandboxId, status, reason }] });
  }

  async function begun(): Promise<ClaimedTurn> {
    await converse(house, 'hello');
    return claimOne(house);
  }

  async function sessionOf(sessionId: string) {
    const { session } = await house.edge.getSession({ sessionId }, { caller: OWNER });
    return session;
  }

  async function changesOf(sessionId: string): Promise<string[]> {
    const events = await journalOf(house, sessionId);
    const changes = events.filter(({ type }) => type === 'environment.status_changed');
    return changes.map(({ json }) => {
      const { data } = JSON.parse(json);
      return `${data.from} → ${data.to}`;
    });
  }

  const end = (turn: ClaimedTurn) => send(house, reportOn(turn, 1, { outcome: COMPLETED }));

  it('are taken by the holder of a turn, and the session says how they are doing', async () => {
    const turn = await begun();
    const sandboxId = newId();
    expect(await take(turn, sandboxId)).toEqual({ granted: true });
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

  it('are taken again by a later turn', async () => {
    const turn = await begun();
    const sandboxId = newId();
    await take(turn, sandboxId);
    await report(sandboxId, 'ready');
    await end(turn);
    await report(sandboxId, 'suspended');
    await say(house, turn.sessionId, 'more');
    const next = await claimOne(house);
    expect(await take(next, sandboxId)).toEqual({ granted: true });
    expect((await sessionOf(turn.sessionId))?.environmentStatus).toBe('restoring');
    await report(sandboxId, 'ready');
    expect((await changesOf(turn.sessionId)).slice(-2)).toEqual([
      'suspended → restoring',
      'restoring → ready',
    ]);
    await end(next);
  });

  it('are refused to whoever does not hold the turn', async () => {
    const turn = await begun();
    const late = { ...turn, fence: turn.fence - 1 };
    await expect(take(late, newId())).rejects.toMatchObject({ code: 'LEASE_LOST' });
    clock.advance(16_000);
    await expect(take(turn, newId())).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await end(await until('it is in the queue again', async () => (await claim(house)).at(0)));
  });

  it('of another runner end when one takes their place', async () => {
    const turn = await begun();
    const [old, fresh] = [newId(), newId()];
    await take(turn, old, { runnerId: 'rnr_2' });
    await report(old, 'ready', 'rnr_2');
    await take(turn, fresh);
    expect(await report(old, 'ready', 'rnr_2')).toEqual({ endSandboxIds: [old] });
    expect(await report(fresh, 'ready')).toEqual({ endSandboxIds: [] });
    expect(await sessionOf(turn.sessionId)).toMatchObject({ environmentStatus: 'ready', sandboxId: fresh });
    await end(turn);
  });

  it('that sessions of an agent share are one for each runner', async () => {
    const [one, other] = [await begun(), await begun()];
    const [here, there] = [newId(), newId()];
    const shared = { tenancy: 'agent', tenantId: one.agentId };
    await take(one, here, shared);
    await take(other, there, { ...shared, runnerId: 'rnr_2' });
    expect(await report(here, 'ready')).toEqual({ endSandboxIds: [] });
    expect(await report(there, 'ready', 'rnr_2')).toEqual({ endSandboxIds: [] });
    await Promise.all([end(one), end(other)]);
  });

  it('are lost when their runner says nothing for a minute, and the session lives on', async () => {
    const turn = await begun();
    const sandboxId = newId();
    await take(turn, sandboxId, { runnerId: 'rnr_silent' });
    await report(sandboxId, 'ready', 'rnr_silent');
    await end(turn);
    clock.advance(61_000);
    await passing(
      'the sandbox counts as lost',
      () => clock.advance(250),
      async () => (await sessionOf(turn.sessionId))?.environmentStatus === 'lost',
    );
    await say(house, turn.sessionId, 'go on');
    const next = await claimOne(house);
    expect(await take(next, sandboxId)).toEqual({ granted: false });
    expect(await take(next, newId())).toEqual({ granted: true });
    expect((await sessionOf(turn.sessionId))?.environmentStatus).toBe('restoring');
    await end(next);
  });

  it('are ended for administrators, who alone see them', async () => {
    const turn = await begun();
    const sandboxId = newId();
    await take(turn, sandboxId);
    await report(sandboxId, 'ready');
    await end(turn);
    const asked = { sandboxId };
    await expect(house.edge.getSandbox(asked, { caller: STRANGER })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    const page = { limit: 100, cursor: '' };
    const listed = await house.edge.listSandboxes({ page, status: '' }, { caller: ADMINISTRATOR });
    expect(listed.sandboxes.map((one) => one.sandboxId)).toContain(sandboxId);
    const { sandbox } = await house.edge.terminateSandbox(asked, { caller: ADMINISTRATOR });
    expect(sandbox).toMatchObject({ status: 'ready', tenantId: turn.sessionId, ownerId: OWNER.userId });
    expect(house.ledger.take()).toEqual([`${ADMINISTRATOR.userId} sandbox.terminate ${asked.sandboxId}`]);
    expect(await report(sandboxId, 'ready')).toEqual({ endSandboxIds: [sandboxId] });
    await report(sandboxId, 'released', 'rnr_1', 'terminated');
    expect((await house.edge.getSandbox(asked, { caller: ADMINISTRATOR })).sandbox).toMatchObject({
      status: 'released',
    });
    expect((await sessionOf(turn.sessionId))?.environmentStatus).toBe('released');
    const ended = await house.edge.listSandboxes({ page, status: 'ended' }, { caller: ADMINISTRATOR });
    expect(ended.sandboxes.map((one) => one.sandboxId)).toContain(sandboxId);
  });

  it('end with the session that they are for', async () => {
    const turn = await begun();
    const sandboxId = newId();
    await take(turn, sandboxId);
    await report(sandboxId, 'ready');
    await house.edge.deleteSession({ sessionId: turn.sessionId }, { caller: OWNER });
    expect(await report(sandboxId, 'ready')).toEqual({ endSandboxIds: [sandboxId] });
  });

  it('unknown ones are to be ended', async () => {
    const sandboxId = newId();
    expect(await report(sandboxId, 'ready')).toEqual({ endSandboxIds: [sandboxId] });
    const asked = house.edge.getSandbox({ sandboxId }, { caller: ADMINISTRATOR });
    await expect(asked).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
  });

  it('of an assistant are worked in by one turn at a time', async () => {
    const begin = async () => {
      const { session } = await house.edge.createConversation(
        { agentId: ASSISTANT, contentJson: content('hello'), title: '', metadata: {}, idempotencyKey: '' },
        { caller: OWNER },
      );
      return session;
    };
    const sessions = [await begin(), await begin(), await begin()];
    expect(sessions[0]).toMatchObject({ assistantId: ASSISTANT, agentId: '', agentVersion: 0 });
    const claimed = async (runnerId: string) =>
      (await claim(house, 10, runnerId)).filter(({ agentId }) => agentId === ASSISTANT);
    const worked: string[] = [];
    for (const _ of sessions) {
      const [one, ...others] = await claimed('rnr_1');
      expect(others).toEqual([]);
      if (!one) throw new Error('nobody works for the assistant');
      expect(await claimed('rnr_2')).toEqual([]);
      worked.push(one.sessionId);
      await end(one);
    }
    expect(worked.toSorted()).toEqual(sessions.map((session) => session?.sessionId).toSorted());
    const sessionId = worked[0] ?? '';
    expect(await say(house, sessionId, 'more')).toMatchObject({ replayed: false });
    house.asked.assistantIsGone = true;
    await expect(say(house, sessionId, 'and more')).rejects.toMatchObject({ code: 'ASSISTANT_NOT_FOUND' });
  });
});
