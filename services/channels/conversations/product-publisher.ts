import { backoffDelay, type Random } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import type {
  ConversationPlace,
  PostNote,
  PostState,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { PostMethod, ProductPost } from '../products/product.ts';
import { ProductError } from '../products/product-error.ts';
import type { OpenChannel } from '../work/channel-clients.ts';
import type { RateLimits } from '../work/rate-limits.ts';
import type { WorkerContext } from '../work/worker-context.ts';
import { NoteQueue } from './note-queue.ts';
import { outboundFile } from './outbox-files.ts';
import { noteOf, type PostChange, type PostNotes } from './post-notes.ts';
import type { Publisher } from './publisher.ts';
import { removedPosts } from './pulled-publisher.ts';
import { isSettled, type ShownPost, type ShownPosts } from './shown-posts.ts';
import { DELETED, type WantedContent } from './wanted-content.ts';

export interface ProductPublisherOptions {
  clock: Clock;
  random: Random;
  log: Log;
  files: WorkerContext['files'];
  channel: OpenChannel;
  limits: RateLimits;
  shown: ShownPosts;
  notes: PostNotes;
  place: ConversationPlace;
  sessionId: string;
  ownerId: string;
  /** Called for each time that a post waits for a rate limit. */
  onRateLimit(): void;
}

const RETRY = { firstMs: 1_000, maxMs: 5 * 60_000 };

/**
 * Creates, edits and deletes the posts at the product, one request at a time and in the order of the posts. `posting` is
 * stored before each create, so that another worker knows of a create whose answer was lost.
 */
export class ProductPublisher implements Publisher {
  readonly #options: ProductPublisherOptions;
  readonly #notes: NoteQueue;
  /** Where new posts go. */
  #place: ConversationPlace;

  constructor(options: ProductPublisherOptions) {
    this.#options = options;
    this.#notes = new NoteQueue(options.notes, options.clock);
    this.#place = options.place;
  }

  async step(wanted: readonly WantedContent[], signal: AbortSignal): Promise<number | undefined> {
    this.#learnIds(await this.#notes.retry(signal));
    let delay: number | undefined;
    let mayCreate = true;
    for (const content of wanted) {
      const shown = this.#options.shown.get(content.identity);
      if (isSettled(shown, content) || shown?.previewDigest === content.digest) continue;
      const isCreate = !shown || shown.externalId === '';
      // Posts keep their order, so a post that waits holds back the ones after it.
      if (isCreate && !mayCreate) continue;
      const wait = this.#waitFor(content, shown, isCreate);
      if (wait === 0) {
        await this.#change(content, signal);
        return 0;
      }
      if (isCreate) mayCreate = false;
      delay = Math.min(delay ?? wait, wait);
    }
    const [removed] = removedPosts(this.#options.shown, wanted);
    if (removed) {
      await this.#remove(removed, signal);
      return 0;
    }
    return delay;
  }

  async flush(signal: AbortSignal): Promise<void> {
    await this.#notes.write([], signal);
  }

  openTurns(wanted: readonly WantedContent[]): Set<string> {
    const open = wanted.filter((content) => !isSettled(this.#options.shown.get(content.identity), content));
    return new Set(open.map(({ post }) => post.turnId));
  }

  /** Returns the milliseconds until the post can be changed. A token of the rate limit is taken with 0. */
  #waitFor({ post }: WantedContent, shown: ShownPost | undefined, isCreate: boolean): number {
    const { clock, channel, limits, onRateLimit } = this.#options;
    const place = this.#place;
    const now = clock.now().getTime();
    const pace = channel.product.rules.editIntervalMs(place);
    const paced = shown && shown.changedAt > 0 ? shown.changedAt + pace : 0;
    const earliest = Math.max(shown?.nextAt ?? 0, paced);
    if (earliest > now) return earliest - now;
    const wait = limits.take(channel, methodOf(post.kind, isCreate), place);
    if (wait > 0) onRateLimit();
    return wait;
  }

  async #change(content: WantedContent, signal: AbortSignal): Promise<void> {
    const shown = this.#options.shown.ensure(content);
    const method = methodOf(content.post.kind, shown.externalId === '');
    try {
      if (method === 'edit') await this.#edit(content, shown, signal);
      else await this.#create(content, shown, signal);
    } catch (error) {
      const isGone = error instanceof Refusal && error.code === 'FILE_NOT_FOUND';
      if (signal.aborted || (error instanceof Refusal && !isGone)) throw error;
      const reason = isGone ? new ProductError('gone', 'The file has changed or was deleted.') : error;
      await this.#fail(content, method, reason, signal);
    }
  }

  async #create(content: WantedContent, shown: ShownPost, signal: AbortSignal): Promise<void> {
    const { client } = this.#options.channel;
    const place = this.#place;
    const { post } = content;
    if (post.kind === 'message' && !post.isFinal && client.showPreview) {
      if (await client.showPreview(this.#productPost(content, shown), signal)) {
        shown.previewDigest = content.digest;
        shown.changedAt = this.#options.clock.now().getTime();
        return;
      }
    }
    const mayExist = shown.state === 'posting';
    const canFind = client.findPost !== undefined && (post.kind !== 'file' || client.findsFiles !== false);
    if (mayExist && canFind && shown.postId !== '') {
      const found = await client
        .findPost?.({ postId: shown.postId, place }, signal)
        .catch((error: unknown) => {
          // The post may still exist, so the next attempt looks for it again.
          if (!(error instanceof ProductError)) throw error;
          const { message, retryAfterMs } = error;
          throw new ProductError('ambiguous', message, retryAfterMs === undefined ? {} : { retryAfterMs });
        });
      if (found !== undefined) {
        shown.externalId = found;
        // The text that it has is not known, so it is edited.
        await this.#note(shown, { state: 'posting', externalId: found }, signal);
        return;
      }
    }
    const maybeDuplicate = mayExist && !canFind;
    const [stored] = await this.#writeNotes([noteOf(shown, { state: 'posting', maybeDuplicate })], signal);
    if (stored) {
      const known = this.#options.shown.store(stored);
      // Another worker has posted it before; the next step compares the content.
      if (known.externalId !== '') {
        known.state = 'posted';
        return this.#note(known, { state: 'posted' }, signal);
      }
    }
    const current = this.#options.shown.ensure(content);
    const externalId =
      post.kind === 'file'
        ? await client.uploadFile(
            outboundFile(post, current.postId, { ...this.#options, place }, signal),
            signal,
          )
        : await client.createPost(this.#productPost(content, current), signal);
    await this.#finish(content, current, externalId, signal);
  }

  async #edit(content: WantedContent, shown: ShownPost, signal: AbortSignal): Promise<void> {
    await this.#options.channel.client.editPost(shown.externalId, this.#productPost(content, shown), signal);
    await this.#finish(content, shown, shown.externalId, signal);
  }

  async #finish(
    content: WantedContent,
    shown: ShownPost,
    externalId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const isEdited = shown.state === 'posted' && !content.post.isFinal;
    Object.assign(shown, {
      ...{ state: 'posted', externalId, digest: content.digest, attempts: 0, nextAt: 0 },
      ...{ changedAt: this.#options.clock.now().getTime(), previewDigest: '' },
    });
    const note = noteOf(shown, { state: 'posted', externalId, shownSha256: content.digest });
    // A worker that does not know of the newest text of a growing post sends the same edit again.
    if (isEdited && this.#notes.postpone(note)) return;
    await this.#writeNotes([note], signal);
  }

  async #remove(post: ShownPost, signal: AbortSignal): Promise<void> {
    const { client } = this.#options.channel;
    try {
      await client.deletePost(post.externalId, this.#place, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      // A remainder of a discarded attempt is harmless; the answer is complete without its deletion.
      this.#logUnexpected(error);
    }
    Object.assign(post, { state: 'posted', externalId: '', digest: '' });
    await this.#note(post, { state: 'posted', shownSha256: DELETED }, signal);
  }

  async #fail(
    content: WantedContent,
    method: PostMethod,
    error: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const { channel, limits, clock, random, onRateLimit } = this.#options;
    const place = this.#place;
    const shown = this.#options.shown.ensure(content);
    const kind = error instanceof ProductError ? error.kind : 'unavailable';
    const message = error instanceof ProductError ? error.message : 'The post could not be sent.';
    this.#logUnexpected(error);
    if (kind === 'missing') return this.#finish(content, shown, shown.externalId, signal);
    if (kind === 'refused' || kind === 'too_large' || kind === 'gone') {
      Object.assign(shown, { state: 'failed', refusedDigest: content.digest });
      return this.#note(shown, { state: 'failed', error: message }, signal);
    }
    shown.attempts++;
    const { retryAfterMs = 0 } = error instanceof ProductError ? error : {};
    const pauseMs = Math.max(
      retryAfterMs,
      kind === 'rate_limited' ? 0 : backoffDelay(shown.attempts, RETRY, random),
    );
    if (kind === 'rate_limited') {
      limits.pause(channel, method, place, Math.max(retryAfterMs, 1));
      onRateLimit();
    }
    shown.nextAt = clock.now().getTime() + pauseMs;
    const nextAt = new Date(shown.nextAt);
    // A create without an answer stays `posting`, because it may have had its effect.
    shown.state = kind === 'ambiguous' && method !== 'edit' ? 'posting' : 'wanted';
    await this.#note(shown, { state: shown.state, error: message, nextAt }, signal);
  }

  async #note(shown: ShownPost, change: PostChange, signal: AbortSignal): Promise<void> {
    await this.#writeNotes([noteOf(shown, change)], signal);
  }

  /** Returns the stored states of these notes. */
  async #writeNotes(notes: PostNote[], signal: AbortSignal) {
    const moved = this.#options.channel.client.movedPlace?.(this.#place);
    const states = await this.#notes.write(notes, signal, moved);
    if (moved) this.#place = moved.place;
    this.#learnIds(states);
    return states.slice(-notes.length);
  }

  #learnIds(states: readonly PostState[]): void {
    for (const state of states) if (state.postId !== '') this.#learnId(state);
  }

  #learnId({
    postId,
    turnId,
    kind,
    part,
    key,
  }: Pick<ShownPost, 'postId' | 'turnId' | 'kind' | 'part' | 'key'>) {
    for (const [, shown] of this.#options.shown) {
      if (shown.turnId === turnId && shown.kind === kind && shown.part === part && shown.key === key)
        shown.postId = postId;
    }
  }

  #productPost({ post, privateTo }: WantedContent, shown: ShownPost): ProductPost {
    if (post.kind === 'file') throw new Error('a file is uploaded');
    const { postId, revision } = shown;
    const { kind, markdown, isFinal } = post;
    const approval = post.kind === 'approval' ? post.approval : undefined;
    // The further parts of an answer follow its first one.
    const replyTo = post.part === 0 ? shown.replyTo : undefined;
    const content = { kind, markdown, isFinal, approval, privateTo, replyTo };
    return { postId, revision, place: this.#place, ...content };
  }

  /** The errors of a library can contain bodies and tokens, so only their class is logged. */
  #logUnexpected(error: unknown): void {
    if (error instanceof ProductError) return;
    const { log, channel } = this.#options;
    const { name } = error instanceof Error ? error : { name: typeof error };
    log.warn(
      { provider: channel.provider, error: name },
      'a post failed with an unexpected error; it is retried',
    );
  }
}

function methodOf(kind: string, isCreate: boolean): PostMethod {
  if (kind === 'file') return 'upload';
  return isCreate ? 'create' : 'edit';
}
