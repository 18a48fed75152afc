import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConversationWork } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { PulledPost } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import { advanceUntil } from '../../../support/wait.ts';
import { asOwner } from './channel-system.ts';
import { callback, httpHeaders, httpMessage } from './fixtures.ts';
import { openWorkSystem, SESSION, TURN, type WorkSystem } from './work-fixtures.ts';

const ANYONE = { mode: 'anyone', people: { ids: [] }, places: { ids: [] }, allowExternal: false };

const content = (text: string, final = true): PulledPost => ({
  ...{ postId: '', revision: 0, conversation: '', kind: '', text, final, sessionId: '', turnId: '' },
  ...{ approval: undefined, file: undefined },
});

describe('pulls of posts', () => {
  let system: WorkSystem;
  let channel: string;
  let secret: string;
  let conversation: ConversationWork;
  beforeAll(async () => {
    system = await openWorkSystem();
  });
  afterAll(() => system?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    system.reset();
    await system.sql('delete from deployments');
    const config = { access: ANYONE, approvers: undefined };
    const created = await system.create('http', { config });
    channel = created.deploymentId;
    secret = created.sharedSecret ?? '';
    const body = httpMessage('m1');
    const request = callback(channel, body, httpHeaders(body, system.clock.now(), secret));
    await system.edge.receiveCallback(request, {});
    await system.worker.accept();
    const [claimed] = await system.worker.claimConversations();
    if (!claimed) throw new Error('no conversation was claimed');
    conversation = claimed;
  });

  /** A correctly signed request, unless the test signs another target. */
  function pull(after = '', { waitMs = 0, signed = '', deploymentId = channel } = {}) {
    const target = `/api/v1/deployments/${deploymentId}/posts?after=${after}&wait_seconds=${waitMs / 1000}`;
    const headers = httpHeaders(signed || target, system.clock.now(), secret);
    return system.edge.pullPosts(
      {
        ...{ deploymentId, target, after, waitMs, sourceAddress: '203.0.113.7' },
        headers: headers.map(([name, value]) => ({ name, value })),
      },
      { timeoutMs: 90_000 },
    );
  }

  async function post(text: string, part = 0, final = true): Promise<void> {
    await system.worker.note(conversation, { part });
    const shownSha256 = Buffer.from(text).toString('hex');
    await system.worker.note(conversation, {
      part,
      state: 'posted',
      shownSha256,
      content: content(text, final),
    });
  }

  it('return posts in the order of their changes, from the cursor, at least once', async () => {
    await post('one', 0, false);
    await post('two', 1);
    const first = await pull();
    expect(first).toMatchObject({
      posts: [
        {
          ...{ postId: expect.stringMatching(/^pst_/), revision: 1, conversation: 'room-1', kind: 'message' },
          ...{ text: 'one', final: false, sessionId: SESSION, turnId: TURN },
        },
        { text: 'two', final: true },
      ],
      nextAfter: '2',
    });
    expect(await pull()).toEqual(first);
    expect(await pull(first.nextAfter)).toEqual({ posts: [], nextAfter: '2' });
    await post('one, longer');
    expect(await pull(first.nextAfter)).toMatchObject({
      posts: [{ postId: first.posts[0]?.postId, text: 'one, longer', revision: 2 }],
      nextAfter: '3',
    });
    expect((await pull()).posts.map(({ text }) => text)).toEqual(['two', 'one, longer']);
  });

  it('return nothing new for a repeated note of a worker', async () => {
    for (let repetition = 0; repetition < 3; repetition++) await post('one');
    expect(await pull()).toMatchObject({ posts: [{ revision: 1 }], nextAfter: '1' });
  });

  it('wait for the next post, at most for the given time', async () => {
    const waiting = pull('', { waitMs: 60_000 });
    await post('now');
    expect(await waiting).toMatchObject({ posts: [{ text: 'now' }] });
    let answer: unknown;
    const start = system.clock.now().getTime();
    void pull('1', { waitMs: 3_000 }).then((found) => {
      answer = found;
    });
    await advanceUntil(
      'the pull has ended',
      () => system.clock.advance(100),
      () => answer !== undefined,
    );
    expect(answer).toEqual({ posts: [], nextAfter: '1' });
    expect(system.clock.now().getTime() - start).toBeGreaterThanOrEqual(3_000);
  });

  it('are refused with another signature, and listed with the reason', async () => {
    await expect(pull('', { signed: '/api/v1/other' })).rejects.toMatchObject({
      code: 'DEPLOYMENT_UNAUTHORIZED',
    });
    secret = `whsec_${Buffer.from('another secret').toString('base64')}`;
    await expect(pull()).rejects.toMatchObject({ code: 'DEPLOYMENT_UNAUTHORIZED' });
    const request = { agentId: '', deploymentId: channel, page: undefined, result: 'refused' };
    const refused = await advanceUntil(
      'the refused pulls are listed',
      () => system.clock.advance(1_000),
      async () => {
        const { deliveries } = await system.edge.listDeliveries(request, asOwner);
        return deliveries.length === 2 && deliveries;
      },
    );
    const row = { reason: 'bad_signature', sourceAddress: '203.0.113.7' };
    expect(refused).toMatchObject([row, row]);
  });

  it('are refused for unknown, disabled and other channels, and with a bad cursor or time', async () => {
    const notFound = { code: 'DEPLOYMENT_NOT_FOUND' };
    const slack = (await system.create('slack')).deploymentId;
    for (const deploymentId of ['dep_01M7XYC91CC5TE06JQWDWRTJVA', 'x', slack])
      await expect(pull('', { deploymentId })).rejects.toMatchObject(notFound);
    for (const after of ['x', '-1', '01', '1.5', '99999999999999999999'])
      await expect(pull(after)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(pull('', { waitMs: 61_000 })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await system.disable(channel);
    await expect(pull()).rejects.toMatchObject(notFound);
  });
});
