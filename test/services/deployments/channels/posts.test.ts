import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConversationWork } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { PulledPost } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import { AGENT, NO_SCHEDULE, OWNER, STRANGER } from '../system.ts';
import {
  asOwner,
  inPlace,
  notice,
  OTHER_SESSION,
  openWorkSystem,
  SESSION,
  TURN,
  type WorkSystem,
} from './work-fixtures.ts';

const HOUR_MS = 3_600_000;
const CONTENT = PulledPost.decode(new Uint8Array());
const UNKNOWN_POST = 'pst_01M7XYC91CC5TE06JQWDWRTJVA';
const turn = (number: number) => `trn_01M7XYC91CC5TE06JQWDWRTJ${String(number).padStart(2, '0')}`;

describe('posts of channels', () => {
  let system: WorkSystem;
  let channel: string;
  let conversation: ConversationWork;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments');
    const access = { mode: 'anyone', people: [], places: [], allowExternal: false } as const;
    channel = await system.createChannel({ access });
    await system.receive(channel);
    await system.worker.accept();
    conversation = await claimed();
  });

  async function claimed(): Promise<ConversationWork> {
    const [found] = await system.worker.claimConversations();
    if (!found) throw new Error('no conversation was claimed');
    return found;
  }

  /** Notes a post and returns it as the answer says. */
  async function note(changes: Parameters<WorkSystem['worker']['note']>[1] = {}) {
    const { posts } = await system.worker.note(conversation, changes);
    return posts[0]!;
  }

  const resend = (postId: string, caller = OWNER) =>
    system.edge.resendPost({ agentId: '', deploymentId: channel, postId }, { caller });

  it('are created by the first note and identified by turn, kind, part and key', async () => {
    const first = await note();
    expect(first).toMatchObject({ state: 'posting', attempts: 1, revision: 1, turnId: TURN, part: 0 });
    expect(await note()).toEqual(first);
    const second = await note({ part: 1 });
    expect(second.postId > first.postId).toBe(true);
    expect(await system.posts(channel)).toMatchObject([
      { postId: second.postId, part: 1 },
      { postId: first.postId, part: 0 },
    ]);
  });

  it('keep the id and the content that the product has, and count new contents', async () => {
    await note();
    const posted = { state: 'posted', externalId: 'M1', shownSha256: 'aa' };
    expect(await note(posted)).toMatchObject({ state: 'posted', externalId: 'M1', attempts: 0, revision: 1 });
    expect(await note(posted)).toMatchObject({ revision: 1 });
    await note();
    const edited = { state: 'posted', shownSha256: 'bb' };
    expect(await note(edited)).toMatchObject({ externalId: 'M1', shownSha256: 'bb', revision: 2 });
    const [listed] = await system.conversations(channel);
    expect(listed).toMatchObject({ lastOutAt: system.clock.now(), waitingPosts: 0, state: 'engaged' });
  });

  it('show the error and the next attempt of a refused one, and make the conversation failing until it is posted', async () => {
    await note();
    const nextAt = new Date(system.clock.now().getTime() + 30_000);
    await note({ state: 'wanted', error: 'rate_limited', nextAt });
    expect(await system.posts(channel, 'wanted')).toMatchObject([
      { error: 'rate_limited', nextAt, attempts: 1 },
    ]);
    expect(await system.conversations(channel)).toMatchObject([
      { state: 'failing', reason: 'rate_limited', waitingPosts: 1 },
    ]);
    await system.worker.release(conversation);
    system.clock.advance(29_000);
    expect(await system.worker.claimConversations()).toEqual([]);
    system.clock.advance(1_000);
    conversation = await claimed();
    await note();
    await note({ state: 'posted', externalId: 'M1' });
    expect(await system.conversations(channel)).toMatchObject([{ state: 'engaged', reason: '' }]);
  });

  it('are dead after 24 hours without success', async () => {
    await note();
    system.clock.advance(23 * HOUR_MS);
    conversation = await claimed();
    expect(await note({ state: 'wanted', error: 'unavailable' })).toMatchObject({ state: 'wanted' });
    await note();
    system.clock.advance(HOUR_MS);
    conversation = await claimed();
    expect(await note({ state: 'wanted', error: 'unavailable' })).toMatchObject({
      state: 'dead',
      attempts: 2,
    });
    expect(await system.conversations(channel)).toMatchObject([{ waitingPosts: 0 }]);
  });

  it('may exist twice when a create was ambiguous, and remember it', async () => {
    await note();
    await note({ state: 'posted', externalId: 'M2', maybeDuplicate: true });
    await note();
    await note({ state: 'posted', shownSha256: 'bb' });
    expect(await system.posts(channel)).toMatchObject([{ maybeDuplicate: true, externalId: 'M2' }]);
  });

  it('of many conversations are noted at the same time, each with its own result', async () => {
    const rooms = Array.from({ length: 20 }, (_, index) => `room ${index}`);
    for (const room of rooms) {
      await system.receive(channel, { place: inPlace(room) });
      await system.worker.accept();
    }
    const held = await system.worker.claimConversations(rooms.length);
    const conversations = [conversation, ...held];
    const posted = { state: 'posted', externalId: 'M1', content: CONTENT };
    const results = await Promise.allSettled([
      ...conversations.map((one) => system.worker.note(one, {}, { key: one.conversation, ...posted })),
      system.worker.note({ ...conversation, fence: conversation.fence + 1 }, {}),
      system.worker.note({ ...conversation, conversation: 'unknown' }, {}),
      system.worker.note(conversation, { postId: UNKNOWN_POST }),
    ]);
    expect(results.slice(-3)).toMatchObject(
      ['LEASE_LOST', 'LEASE_LOST', 'POST_NOT_FOUND'].map((code) => ({ reason: { code } })),
    );
    for (const [index, { conversation: name }] of conversations.entries())
      expect(results[index]).toMatchObject({
        value: { posts: [{ state: 'posting' }, { state: 'posted', key: name, externalId: 'M1' }] },
      });
    const changes = await system.sql<{ change: string }>(
      'select change from posts where change is not null order by change',
    );
    expect(changes.map(({ change }) => Number(change))).toEqual(conversations.map((_, index) => index + 1));
  });

  it('with several notes in one call end with the last one', async () => {
    const { posts } = await system.worker.note(
      conversation,
      { state: 'wanted', error: 'unavailable' },
      { state: 'posting' },
      { state: 'posted', externalId: 'M1', shownSha256: 'aa', content: CONTENT },
      { state: 'posted', shownSha256: 'bb', content: CONTENT },
    );
    expect(new Set(posts.map(({ postId }) => postId)).size).toBe(1);
    expect(await system.posts(channel)).toMatchObject([
      { state: 'posted', externalId: 'M1', revision: 2, error: '' },
    ]);
    expect(await system.conversations(channel)).toMatchObject([{ state: 'engaged', reason: '' }]);
    expect(await system.sql('select change::integer from posts')).toEqual([{ change: 2 }]);
  });

  it('do not wait for another conversation whose row is locked', async () => {
    await system.receive(channel, { place: inPlace('room') });
    await system.worker.accept();
    const other = await claimed();
    const lock = await system.begin('select from conversations where conversation = $1 for update', ['room']);
    const waiting = system.worker.note(other, {});
    try {
      expect(await note()).toMatchObject({ state: 'posting' });
    } finally {
      await lock[Symbol.asyncDispose]();
    }
    expect((await waiting).posts).toMatchObject([{ state: 'posting' }]);
  });

  it('come with the next claim: those since the last told event, and those of turns with open posts', async () => {
    const postTurn = async (number: number, parts = 1) => {
      for (let part = 0; part < parts; part++) {
        await note({ turnId: turn(number), part });
        await note({ turnId: turn(number), part, state: 'posted' });
      }
    };
    const turnsAfter = async (toldSeq: number) => {
      await system.worker.release(conversation, toldSeq);
      system.clock.advance(1_000);
      await system.receive(channel);
      await system.worker.accept();
      conversation = await claimed();
      return [...new Set(conversation.posts.map(({ turnId }) => turnId))];
    };
    await postTurn(1, 30);
    await postTurn(2, 30);
    // The lease ended without a release: all turns are read again.
    system.clock.advance(30_000);
    conversation = await claimed();
    expect(conversation.posts).toHaveLength(60);
    expect(await turnsAfter(50)).toEqual([turn(1), turn(2)]);
    await postTurn(3, 30);
    expect(await turnsAfter(100)).toEqual([turn(2), turn(3)]);
    await note({ turnId: turn(4) });
    await postTurn(5, 45);
    expect(await turnsAfter(150)).toEqual([turn(4), turn(5)]);
    await note({ turnId: turn(4), state: 'posted' });
    expect(await turnsAfter(200)).toEqual([turn(5)]);
  });

  it('stay open when a create had no answer, with the next attempt', async () => {
    await note();
    const nextAt = new Date(system.clock.now().getTime() + 5_000);
    const ambiguous = { state: 'posting', error: 'no answer', nextAt };
    for (let repetition = 0; repetition < 2; repetition++)
      expect(await note(ambiguous)).toMatchObject({ state: 'posting', attempts: 1, nextAt });
    expect(await system.conversations(channel)).toMatchObject([{ state: 'failing', reason: 'no answer' }]);
    expect(await note()).toMatchObject({ state: 'posting', attempts: 2, nextAt: undefined });
  });

  it('that failed are sent again on request, with the whole session', async () => {
    await note();
    const { postId } = await note({ state: 'failed', error: 'channel_is_archived' });
    await system.worker.release(conversation, 40);
    expect(await system.worker.claimConversations()).toEqual([]);
    expect(await resend(postId)).toMatchObject({ post: { postId, state: 'wanted', attempts: 0, error: '' } });
    expect(await resend(postId)).toMatchObject({ post: { state: 'wanted' } });
    conversation = await claimed();
    expect(conversation).toMatchObject({
      toldSeq: 0,
      sessionId: SESSION,
      posts: [{ postId, state: 'wanted' }],
    });
  });

  it('that are notices are sent again with their text', async () => {
    await system.receive(channel);
    await system.worker.accept({ sessionId: '', turnId: '', notices: [notice('No quota.')] });
    const [work] = await system.worker.claimConversations();
    const [{ postId } = { postId: '' }] = work?.posts ?? [];
    await note({ postId, state: 'failed', error: 'not_allowed' });
    await system.worker.release(conversation, 40);
    await resend(postId);
    expect(await claimed()).toMatchObject({
      toldSeq: 40,
      posts: [{ postId, text: 'No quota.', state: 'wanted' }],
    });
  });

  it('cannot be sent again by strangers, in a disabled channel, or for a session that was left', async () => {
    const { postId } = await note({ state: 'failed' });
    await expect(resend(UNKNOWN_POST)).rejects.toMatchObject({ code: 'POST_NOT_FOUND' });
    await expect(resend(postId, STRANGER)).rejects.toMatchObject({ code: 'DEPLOYMENT_NOT_FOUND' });
    await system.receive(channel);
    await system.worker.accept({ sessionId: OTHER_SESSION });
    await expect(resend(postId)).rejects.toMatchObject({ code: 'POST_NOT_FOUND' });
    await system.disable(channel);
    await expect(resend(postId)).rejects.toMatchObject({ code: 'CHANNEL_NOT_CONNECTED' });
  });

  it('are refused with an unknown id, kind or state', async () => {
    await expect(note({ postId: UNKNOWN_POST })).rejects.toMatchObject({ code: 'POST_NOT_FOUND' });
    await expect(note({ kind: 'letter' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(note({ state: 'dead' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('are listed by state and conversation, newest first, in pages', async () => {
    for (const part of [0, 1, 2]) await note({ part });
    await note({ part: 1, state: 'posted' });
    const request = { agentId: '', deploymentId: channel, state: 'posting', conversation: 'C1' };
    const first = await system.edge.listPosts({ ...request, page: { limit: 1, cursor: '' } }, asOwner);
    expect(first.posts).toMatchObject([{ part: 2 }]);
    const page = { limit: 1, cursor: first.page?.nextCursor ?? '' };
    expect(await system.edge.listPosts({ ...request, page }, asOwner)).toMatchObject({
      posts: [{ part: 0 }],
      page: { nextCursor: '' },
    });
    const other = await system.edge.listPosts({ ...request, conversation: 'C2', page: undefined }, asOwner);
    expect(other.posts).toEqual([]);
  });

  it('of other types of deployments are refused with NOT_A_CHANNEL', async () => {
    const webhook = {
      agentId: AGENT,
      type: 'webhook',
      promptPrefix: undefined,
      ...NO_SCHEDULE,
      idempotencyKey: '',
    };
    const { deployment } = await system.edge.createDeployment(webhook, asOwner);
    const reference = { agentId: '', deploymentId: deployment?.deploymentId ?? '', page: undefined };
    const notAChannel = { code: 'NOT_A_CHANNEL' };
    await expect(system.edge.listConversations(reference, asOwner)).rejects.toMatchObject(notAChannel);
    await expect(
      system.edge.listPosts({ ...reference, state: '', conversation: '' }, asOwner),
    ).rejects.toMatchObject(notAChannel);
    await expect(system.edge.listLinks(reference, asOwner)).rejects.toMatchObject(notAChannel);
  });
});
