import { describe, expect, it } from 'vitest';
import type { PostNote } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { PostNotes } from '../../../services/channels/conversations/post-notes.ts';
import { ProductPublisher } from '../../../services/channels/conversations/product-publisher.ts';
import { ShownPosts } from '../../../services/channels/conversations/shown-posts.ts';
import { wantedContent } from '../../../services/channels/conversations/wanted-content.ts';
import type { ProductClient } from '../../../services/channels/products/product.ts';
import { ProductError } from '../../../services/channels/products/product-error.ts';
import { RateLimits } from '../../../services/channels/work/rate-limits.ts';
import { createFakeClock } from '../../support/clock.ts';
import { createContext } from '../../support/context.ts';
import { CONFIG, createFakeDeployments, PLACE, postState } from './fake-deployments.ts';

const signal = new AbortController().signal;
const NEVER = async () => {
  throw new Error('not used');
};

/** A publisher at a product that lists its requests, with the next failures in `failures`. */
function openPublisher(more: Partial<ProductClient> = {}) {
  const clock = createFakeClock();
  const context = createContext('', { clock });
  const deployments = createFakeDeployments(context);
  const requests: string[] = [];
  const revisions: number[] = [];
  const places: object[] = [];
  const replies: (object | undefined)[] = [];
  const failures: ProductError[] = [];
  const answer = async <Result>(request: string, result: Result): Promise<Result> => {
    requests.push(request);
    const failure = failures.shift();
    if (failure) throw failure;
    return result;
  };
  const client: ProductClient = {
    ...{ isReceiving: false, me: NEVER, register: NEVER, unregister: NEVER, connect: NEVER, probe: NEVER },
    ...{ downloadFile: NEVER, answer: NEVER, close: async () => {} },
    createPost: ({ markdown, revision, replyTo, place }) => {
      places.push(place);
      revisions.push(revision);
      replies.push(replyTo);
      return answer(`create ${markdown}`, `ext_${requests.length + 1}`);
    },
    editPost: (externalId, { markdown }) => answer(`edit ${externalId} ${markdown}`, undefined),
    deletePost: (externalId) => answer(`delete ${externalId}`, undefined),
    uploadFile: ({ name }) => answer(`upload ${name}`, 'file_1'),
    ...more,
  };
  const rules = {
    ...{
      maxLength: 100,
      maxParts: 5,
      lengthOf: (text: string) => text.length,
      disarm: (text: string) => text,
    },
    ...{ editIntervalMs: () => 1_000, rateOf: () => ({ intervalMs: 0, burst: 1 }) },
  };
  const shown = new ShownPosts();
  let rateLimitWaits = 0;
  const publisher = new ProductPublisher({
    ...{ clock, random: () => 0, log: context.log, limits: new RateLimits(clock), shown, place: PLACE },
    files: { readContent: NEVER } as never,
    channel: {
      ...{ deploymentId: 'dep_1', agentId: 'agt_1', agentName: 'Echo', provider: 'slack', config: CONFIG },
      ...{ revision: 1, publicUrl: '', product: { provider: 'slack', rules, open: () => client }, client },
    },
    notes: new PostNotes(deployments.client, {
      ...{ kind: 'conversation', deploymentId: 'dep_1', conversation: 'room', fence: 1 },
    }),
    ...{ sessionId: 'ses_1', ownerId: 'usr_1' },
    onRateLimit: () => rateLimitWaits++,
  });
  return {
    ...{ clock, shown, requests, revisions, replies, places, failures, deployments },
    moves: () => deployments.notes.flatMap(({ movedTo }) => movedTo ?? []),
    notes: (): Partial<PostNote>[] => deployments.notes.flatMap(({ posts }) => posts),
    waits: () => rateLimitWaits,
    flush: () => publisher.flush(signal),
    /** Makes changes until the publisher waits, and returns the time to wait. */
    publish: (...texts: string[]) => publish(texts, false),
    /** As `publish`, with texts that grow no more. */
    finish: (...texts: string[]) => publish(texts, true),
  };

  async function publish(texts: readonly string[], isFinal: boolean) {
    const wanted = texts.map((markdown, part) =>
      wantedContent({ turnId: 'trn_1', kind: 'message', part, key: '', markdown, isFinal }, false),
    );
    for (let step = 0; step < 50; step++) {
      const delay = await publisher.step(wanted, signal);
      if (delay !== 0) return delay;
    }
    throw new Error('the publisher makes no progress');
  }
}

const failure = (kind: ProductError['kind'], retryAfterMs?: number) =>
  new ProductError(kind, `it is ${kind}`, retryAfterMs === undefined ? {} : { retryAfterMs });

describe('a publisher', () => {
  it('notes a create before and after it, and edits the newest text at the pace of the product', async () => {
    const product = openPublisher();
    expect(await product.publish('one')).toBeUndefined();
    expect(product.notes().map(({ state }) => state)).toEqual(['posting', 'posted']);
    expect(await product.publish('two')).toBe(1_000);
    product.clock.advance(1_000);
    expect(await product.publish('three')).toBeUndefined();
    expect(product.requests).toEqual(['create one', 'edit ext_1 three']);
  });

  it('lets the first part of an answer reply to the message that began its turn', async () => {
    const product = openPublisher();
    product.deployments.replyTo = 'M7';
    await product.publish('one', 'two');
    expect(product.replies).toEqual([{ messageId: 'M7', place: PLACE.place }, undefined]);
  });

  it('reports a new id of the place once, and posts there', async () => {
    const supergroup = { ...PLACE, place: 'supergroup' };
    const product = openPublisher({
      movedPlace: ({ place }) =>
        place === PLACE.place && product.requests.length > 0 ? { place: supergroup, reason: '' } : undefined,
    });
    await product.publish('one', 'two');
    expect(product.moves()).toEqual([supergroup]);
    expect(product.places).toEqual([PLACE, supergroup]);
  });

  it('notes an edit of a growing text with the next note, or ten seconds after the last one', async () => {
    const product = openPublisher();
    const digestOf = (text: string) =>
      wantedContent(
        { turnId: 'trn_1', kind: 'message', part: 0, key: '', markdown: text, isFinal: false },
        false,
      ).digest;
    const edit = async (text: string, afterMs: number) => {
      product.clock.advance(afterMs);
      expect(await product.publish(text)).toBeUndefined();
    };
    await product.publish('one');
    await edit('two', 1_000);
    await edit('three', 1_000);
    expect(product.notes()).toHaveLength(2);
    await edit('four', 8_000);
    expect(product.notes().slice(2)).toMatchObject([
      { shownSha256: digestOf('three') },
      { shownSha256: digestOf('four') },
    ]);
    await edit('five', 1_000);
    product.clock.advance(1_000);
    product.failures.push(failure('unavailable'));
    const delay = await product.publish('six');
    expect(product.notes().slice(4)).toMatchObject([
      { state: 'posted', shownSha256: digestOf('five') },
      { state: 'wanted', error: 'it is unavailable' },
    ]);
    product.clock.advance(delay ?? 0);
    await product.publish('seven');
    await product.finish('seven and the end');
    expect(product.notes().slice(6)).toMatchObject([{ shownSha256: digestOf('seven') }]);
    product.clock.advance(1_000);
    await product.finish('seven and the end');
    expect(product.notes().slice(7)).toMatchObject([{ shownSha256: digestOf('seven and the end') }]);
  });

  it('keeps notes that could not be written, and writes them before the lease is released', async () => {
    const product = openPublisher();
    await product.publish('one');
    product.clock.advance(1_000);
    await product.publish('two');
    product.deployments.lostFence = 1;
    await expect(product.flush()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    product.deployments.lostFence = -1;
    await product.flush();
    await product.flush();
    expect(product.notes().map(({ state }) => state)).toEqual(['posting', 'posted', 'posted']);
  });

  it('deletes a part that is not wanted any more, and creates it again later', async () => {
    const product = openPublisher();
    await product.publish('one', 'two');
    await product.publish('one');
    product.clock.advance(1_000);
    await product.publish('one', 'three');
    expect(product.requests).toEqual(['create one', 'create two', 'delete ext_2', 'create three']);
    expect(product.revisions).toEqual([1, 1, 2]);
  });

  it('repeats a create whose answer was lost with its revision', async () => {
    const product = openPublisher();
    await product.publish('one', 'two');
    await product.publish('one');
    product.failures.push(failure('ambiguous'));
    product.clock.advance(1_000);
    const delay = await product.publish('one', 'three');
    product.clock.advance(delay ?? 0);
    await product.publish('one', 'four');
    expect(product.requests.slice(-2)).toEqual(['create three', 'create four']);
    expect(product.revisions).toEqual([1, 1, 2, 2]);
  });

  it('finds a post whose creation had no answer, and edits it', async () => {
    const product = openPublisher({ findPost: async () => 'ext_found' });
    product.failures.push(failure('ambiguous'));
    const delay = await product.publish('one');
    expect(product.notes().at(-1)).toMatchObject({ state: 'posting', error: 'it is ambiguous' });
    product.clock.advance(delay ?? 0);
    expect(await product.publish('two')).toBeUndefined();
    expect(product.requests).toEqual(['create one', 'edit ext_found two']);
  });

  it('marks a repeated create as a possible duplicate where the product cannot be asked', async () => {
    const product = openPublisher();
    product.shown.store(postState({ turnId: 'trn_1', kind: 'message', state: 'posting' }));
    await product.publish('one');
    expect(product.notes()).toMatchObject([{ state: 'posting', maybeDuplicate: true }, { state: 'posted' }]);
  });

  it('looks again for a post whose search failed, and creates no other one', async () => {
    let searches = 0;
    const product = openPublisher({
      async findPost() {
        if (++searches === 1)
          throw new ProductError('rate_limited', 'too many requests', { retryAfterMs: 1_000 });
        return 'ext_found';
      },
    });
    product.shown.store(postState({ turnId: 'trn_1', kind: 'message', state: 'posting', postId: 'pst_1' }));
    const delay = await product.publish('one');
    product.clock.advance(delay ?? 0);
    await product.publish('one');
    expect(product.requests).toEqual(['edit ext_found one']);
  });

  it('respects Retry-After, and keeps the order of the posts meanwhile', async () => {
    const product = openPublisher();
    product.failures.push(failure('rate_limited', 7_000));
    expect(await product.publish('one', 'two')).toBe(7_000);
    expect(product.requests).toEqual(['create one']);
    expect(product.waits()).toBe(1);
    product.clock.advance(7_000);
    await product.publish('one', 'two');
    expect(product.requests).toEqual(['create one', 'create one', 'create two']);
  });

  it('does not repeat what the product refuses, until the content changes', async () => {
    const product = openPublisher();
    product.failures.push(failure('refused'));
    expect(await product.publish('one')).toBeUndefined();
    expect(product.notes().at(-1)).toMatchObject({ state: 'failed', error: 'it is refused' });
    expect(await product.publish('one')).toBeUndefined();
    await product.publish('two');
    expect(product.requests).toEqual(['create one', 'create two']);
  });

  it('sends nothing that another worker has posted', async () => {
    const product = openPublisher();
    await product.publish('one');
    const digest = product.notes().at(-1)?.shownSha256 ?? '';
    const next = openPublisher();
    const post = {
      turnId: 'trn_1',
      kind: 'message',
      state: 'posted',
      externalId: 'ext_1',
      shownSha256: digest,
    };
    next.shown.store(postState(post));
    expect(await next.publish('one')).toBeUndefined();
    expect(next.requests).toEqual([]);
  });

  it('counts a post that was deleted at the product as edited', async () => {
    const product = openPublisher();
    await product.publish('one');
    product.clock.advance(1_000);
    product.failures.push(failure('missing'));
    expect(await product.publish('two')).toBeUndefined();
    expect(product.requests).toEqual(['create one', 'edit ext_1 two']);
  });
});
