import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWNER } from '../system.ts';
import {
  inPlace,
  LEASE_SECONDS,
  notice,
  OTHER_SESSION,
  openWorkSystem,
  RETRY,
  SESSION,
  type WorkSystem,
} from './work-fixtures.ts';

const LEASE_MS = LEASE_SECONDS * 1_000;
const IGNORED = { result: 'ignored', sessionId: '', turnId: '', ownerId: '' };
const UNCHANGED = { access: undefined, approvers: undefined };
const lost = { code: 'LEASE_LOST' };

describe('conversations of channels', () => {
  let system: WorkSystem;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments');
  });

  const openChannel = (changes = {}) =>
    system.createChannel({
      access: { mode: 'anyone', people: [], places: [], allowExternal: false },
      ...changes,
    });

  async function talk(channel: string, changes = {}): Promise<void> {
    await system.receive(channel);
    await system.worker.accept(changes);
  }

  async function claimed() {
    const [conversation] = await system.worker.claimConversations();
    if (!conversation) throw new Error('no conversation was claimed');
    return conversation;
  }

  /** Tells the service about a change of the session, as the sessions service does. */
  async function signal(kind = 'turn_ended', sessionId = SESSION): Promise<void> {
    const { scheduled } = system.fakes;
    scheduled.signal({ kind, sessionId, turn: undefined });
    system.context.bus.publish('sessions.signals', '');
    while (scheduled.signals.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it('are engaged by an accepted message, by one worker, until they are released', async () => {
    const channel = await openChannel();
    await talk(channel);
    expect(await system.conversations(channel)).toMatchObject([
      {
        ...{ conversation: 'C1', title: 'Support chat', sessionId: SESSION, state: 'engaged', people: 1 },
        ...{ lastInAt: system.clock.now(), lastOutAt: undefined, waitingPosts: 0 },
      },
    ]);
    const conversation = await claimed();
    expect(conversation).toMatchObject({
      ...{ deploymentId: channel, conversation: 'C1', sessionId: SESSION, ownerId: OWNER.userId, toldSeq: 0 },
      ...{ place: inPlace('C1'), posts: [] },
    });
    expect(await system.otherWorker.claimConversations()).toEqual([]);
    await system.worker.release(conversation, 12);
    await system.worker.release(conversation, 12);
    expect(await system.conversations(channel)).toMatchObject([{ state: 'idle' }]);
    expect(await system.otherWorker.claimConversations()).toEqual([]);
    await talk(channel);
    expect(await claimed()).toMatchObject({ toldSeq: 12, fence: conversation.fence + 1 });
  });

  it('are engaged by signals of their session, also by one that comes before the release', async () => {
    const channel = await openChannel();
    await talk(channel);
    const first = await claimed();
    await signal('approval_requested');
    expect(await system.worker.claimConversations()).toEqual([]);
    await system.worker.release(first, 5);
    const second = await claimed();
    await system.worker.release(second, 9);
    expect(await system.worker.claimConversations()).toEqual([]);
    await signal();
    expect(await claimed()).toMatchObject({ toldSeq: 9 });
    await signal('turn_ended', OTHER_SESSION);
  });

  it('of a killed worker go to another one with the end of the lease', async () => {
    await talk(await openChannel());
    const conversation = await claimed();
    system.clock.advance(LEASE_MS / 2);
    expect(await system.worker.renew(conversation)).toEqual({ lost: [] });
    system.clock.advance(LEASE_MS - 1);
    expect(await system.otherWorker.claimConversations()).toEqual([]);
    system.clock.advance(1);
    expect(await system.otherWorker.claimConversations()).toHaveLength(1);
    const { deploymentId, fence } = conversation;
    expect(await system.worker.renew(conversation)).toEqual({
      lost: [{ kind: 'conversation', deploymentId, conversation: 'C1', fence }],
    });
    await expect(system.worker.release(conversation)).rejects.toMatchObject(lost);
    await expect(system.worker.note(conversation, {})).rejects.toMatchObject(lost);
  });

  it.each([
    [
      'changed',
      (channel: string) => system.update(channel, { config: { ...UNCHANGED, busy: 'interrupt' } }),
      1,
    ],
    ['disabled', (channel: string) => system.disable(channel), 0],
    ['deleted', (channel: string) => system.remove(channel), 0],
  ])('lose their lease when the channel is %s', async (_, change, claims) => {
    const channel = await openChannel();
    await talk(channel);
    const conversation = await claimed();
    await change(channel);
    expect((await system.worker.renew(conversation)).lost).toHaveLength(1);
    await expect(system.worker.note(conversation, {})).rejects.toMatchObject(lost);
    expect(await system.otherWorker.claimConversations()).toHaveLength(claims);
  });

  it('begin to tell a new session from its start, and give up the posts of the earlier one', async () => {
    const channel = await openChannel();
    await talk(channel);
    const first = await claimed();
    await system.worker.note(first, { state: 'wanted', error: 'rate_limited' });
    await talk(channel, { sessionId: OTHER_SESSION });
    await expect(system.worker.note(first, {})).rejects.toMatchObject(lost);
    expect(await claimed()).toMatchObject({ sessionId: OTHER_SESSION, toldSeq: 0, posts: [] });
    expect(await system.posts(channel)).toMatchObject([{ state: 'dead', error: 'session_replaced' }]);
  });

  it('keep telling a detached session until the next message starts another one', async () => {
    const channel = await openChannel();
    await talk(channel);
    await system.worker.release(await claimed(), 3);
    await system.receive(channel, { kind: 'command', command: 'new' });
    await system.worker.accept({ ...IGNORED, result: 'accepted', detachSession: true });
    await signal();
    expect(await claimed()).toMatchObject({ sessionId: SESSION, toldSeq: 3 });
  });

  it('stay detached when an earlier message becomes a turn afterwards', async () => {
    const channel = await openChannel();
    await system.receive(channel);
    const [slow] = await system.worker.claimDeliveries();
    system.clock.advance(1_000);
    await system.receive(channel, { kind: 'command', command: 'new' });
    await system.worker.accept({ ...IGNORED, result: 'accepted', detachSession: true });
    await system.worker.finish(slow!);
    expect(await claimed()).toMatchObject({ sessionId: SESSION });
    await system.receive(channel);
    expect(await system.worker.accept()).toMatchObject({ sessionId: '' });
  });

  it('of a deleted session are not told any more', async () => {
    const channel = await openChannel();
    await talk(channel);
    const conversation = await claimed();
    await system.worker.note(conversation, {});
    await signal('session_deleted');
    await expect(system.worker.note(conversation, {})).rejects.toMatchObject(lost);
    expect(await system.worker.claimConversations()).toEqual([]);
    expect(await system.posts(channel)).toMatchObject([{ state: 'dead', error: 'session_deleted' }]);
    await system.receive(channel);
    expect(await system.worker.accept({ sessionId: OTHER_SESSION })).toMatchObject({ sessionId: SESSION });
  });

  it('get notices, also while a worker holds them, and then with the same fence', async () => {
    const channel = await openChannel();
    await talk(channel);
    const { fence } = await claimed();
    await system.receive(channel, { kind: 'command', command: 'status', senderId: 'U2' });
    const notices = [notice('Idle.', '', true)];
    await system.worker.accept({ ...IGNORED, result: 'accepted', notices });
    expect(await system.otherWorker.claimConversations()).toEqual([]);
    const [again] = await system.worker.claimConversations(0);
    expect(again).toMatchObject({ fence, posts: [{ kind: 'notice', text: 'Idle.', privateTo: 'U2' }] });
    await system.worker.note(again!, { postId: again!.posts[0]!.postId, state: 'posted', externalId: 'M1' });
    await system.worker.release(again!);
    expect(await system.worker.claimConversations()).toEqual([]);
  });

  it('get a notice with the same key once an hour, and each one without a key', async () => {
    const channel = await openChannel();
    const notices = [notice('No quota.', 'no quota'), notice('Ignored.')];
    for (let round = 0; round < 3; round++) {
      await system.receive(channel);
      await system.worker.accept({ ...IGNORED, notices });
    }
    expect(await system.posts(channel)).toHaveLength(4);
    await system.receive(channel, { senderId: 'U2' });
    await system.worker.accept({ ...IGNORED, notices: [notice('No quota.', 'no quota', true)] });
    expect(await system.posts(channel)).toHaveLength(5);
    system.clock.advance(3_600_001);
    await system.receive(channel);
    await system.worker.accept({ ...IGNORED, notices: [notice('No quota.', 'no quota')] });
    expect(await system.posts(channel)).toHaveLength(6);
    expect(await system.conversations(channel)).toMatchObject([
      { people: 0, sessionId: '', waitingPosts: 6 },
    ]);
  });

  it('get the notice of a delivery that waits', async () => {
    const channel = await openChannel();
    await system.receive(channel);
    await system.worker.accept({
      ...RETRY,
      isWaiting: true,
      notices: [notice('The queue is held.', 'held')],
    });
    expect(await claimed()).toMatchObject({ posts: [{ text: 'The queue is held.' }] });
  });

  it('are greeted once, before everything else', async () => {
    const channel = await openChannel({ greeting: 'Welcome.' });
    await talk(channel, { notices: [notice('A new session.')] });
    await talk(channel);
    const texts = (await claimed()).posts.map(({ text }) => text);
    expect(texts).toEqual(['Welcome.', 'A new session.']);
  });

  it('of one channel are held 200 at a time, and leave capacity for other channels', async () => {
    const { worker, otherWorker } = system;
    const busy = await openChannel();
    await system.sql(
      `insert into conversations (deployment_id, conversation, owner_id, place, session_id, session_owner_id, is_engaged,
         engagements, ready_at, last_in_at, created_at)
       select $1, 'B' || i, $2, '{}', 'ses_' || i, $2, true, 1, $3, $3, $3 from generate_series(1, 230) i`,
      [busy, OWNER.userId, system.clock.now()],
    );
    const other = await openChannel();
    system.clock.advance(1_000);
    await system.receive(other);
    await worker.accept();
    expect(await worker.claimConversations(150)).toHaveLength(150);
    const second = await otherWorker.claimConversations(150);
    expect(second.map(({ deploymentId }) => deploymentId).toSorted()).toEqual(
      [...Array(50).fill(busy), other].toSorted(),
    );
    expect(await worker.claimConversations(150)).toEqual([]);
    const ofBusy = second.filter(({ deploymentId }) => deploymentId === busy);
    for (const conversation of ofBusy.slice(0, 10)) await otherWorker.release(conversation, 1);
    expect(await worker.claimConversations(150)).toHaveLength(10);
  });

  it('are listed by their last message, in pages', async () => {
    const channel = await openChannel();
    for (const place of ['C1', 'C 2', 'C3']) {
      system.clock.advance(1_000);
      await system.receive(channel, { place: inPlace(place) });
      await system.worker.accept();
    }
    const request = { agentId: '', deploymentId: channel };
    const list = (cursor: string) =>
      system.edge.listConversations({ ...request, page: { limit: 2, cursor } }, { caller: OWNER });
    const first = await list('');
    expect(first.conversations.map(({ conversation }) => conversation)).toEqual(['C3', 'C 2']);
    const second = await list(first.page?.nextCursor ?? '');
    expect(second.conversations.map(({ conversation }) => conversation)).toEqual(['C1']);
    expect(second.page?.nextCursor).toBe('');
  });
});
