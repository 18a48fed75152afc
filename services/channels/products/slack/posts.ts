import type { Clock } from '../../../../lib/clock.ts';
import type { ConversationPlace } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ProductPost } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { contentOf } from './content.ts';
import type { WebApi } from './vendor-clients.ts';

/** The type of the metadata that names the post of a message. */
const EVENT_TYPE = 'agent_post';
/** Posts are tried for 24 hours. */
const SEARCHED_SECONDS = 25 * 60 * 60;
const PAGE = 200;
const MAX_PAGES = 50;
/** No text becomes a mention. */
const PLAIN = { link_names: false, parse: 'none', unfurl_links: false, unfurl_media: false } as const;

interface FoundMessage {
  ts?: string;
  metadata?: { event_type?: string; event_payload?: object };
}

/** The messages of the bot. The id of a post is the timestamp of its message. */
export class SlackPosts {
  readonly #api: WebApi;
  readonly #clock: Clock;

  constructor(api: WebApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  async create(post: ProductPost, signal: AbortSignal): Promise<string> {
    const { place, privateTo } = post;
    if (privateTo !== undefined && place.isGroup) {
      await this.#createPrivate(post, privateTo, signal);
      return '';
    }
    return this.#post(post, place, signal);
  }

  async edit(ts: string, post: ProductPost, signal: AbortSignal): Promise<void> {
    const update = { channel: post.place.place, ts, ...contentOf(post) };
    await this.#api.call((client) => client.chat.update({ ...update, parse: 'none' }), signal);
  }

  async delete(ts: string, { place: channel }: ConversationPlace, signal: AbortSignal): Promise<void> {
    await this.#api.call((client) => client.chat.delete({ channel, ts }), signal);
  }

  /** Reads the thread, or the channel for posts outside of threads. */
  async find(postId: string, { place: channel, thread }: ConversationPlace, signal: AbortSignal) {
    const oldest = String(Math.floor(this.#clock.now().getTime() / 1000) - SEARCHED_SECONDS);
    const range = { channel, oldest, limit: PAGE, include_all_metadata: true };
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const options = { ...range, ...(cursor && { cursor }) };
      const { messages = [], response_metadata } = await this.#api.call(
        (client) =>
          thread === ''
            ? client.conversations.history(options)
            : client.conversations.replies({ ...options, ts: thread }),
        signal,
      );
      const found = messages.find((message) => isPost(message, postId));
      if (found?.ts) return found.ts;
      cursor = response_metadata?.next_cursor;
      if (!cursor) return undefined;
    }
    return undefined;
  }

  async #post(post: ProductPost, place: ConversationPlace, signal: AbortSignal): Promise<string> {
    const metadata = { event_type: EVENT_TYPE, event_payload: { post_id: post.postId } };
    const { place: channel, thread } = place;
    const { ts, message } = await this.#api.call(
      (client) =>
        client.chat.postMessage({
          ...PLAIN,
          ...contentOf(post),
          ...{ channel, metadata },
          ...(thread !== '' && { thread_ts: thread }),
        }),
      signal,
      { creates: true },
    );
    if (!ts) throw new ProductError('ambiguous', 'The answer of Slack has no timestamp.');
    if (thread !== '' && message?.thread_ts === undefined) await this.#withdraw(ts, place, signal);
    return ts;
  }

  /** Slack posts the answer to a deleted root into the channel, where all members see it without its context. */
  async #withdraw(ts: string, place: ConversationPlace, signal: AbortSignal): Promise<never> {
    try {
      await this.delete(ts, place, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof ProductError)) throw error;
    }
    throw new ProductError('refused', 'The first message of the thread was deleted.');
  }

  async #createPrivate(post: ProductPost, user: string, signal: AbortSignal): Promise<void> {
    const { place: channel, thread } = post.place;
    try {
      await this.#api.call(
        (client) =>
          client.chat.postEphemeral({
            ...contentOf(post),
            ...{ channel, user, link_names: false, parse: 'none' },
            ...(thread !== '' && { thread_ts: thread }),
          }),
        signal,
      );
    } catch (error) {
      if (!(error instanceof ProductError) || error.kind !== 'refused') throw error;
      // The person is not in the channel, for example because they have left it.
      const opened = await this.#api.call((client) => client.conversations.open({ users: user }), signal);
      const direct = { place: opened.channel?.id ?? user, thread: '', isGroup: false };
      await this.#post(post, direct, signal);
    }
  }
}

function isPost({ metadata }: FoundMessage, postId: string): boolean {
  const payload: { post_id?: unknown } = metadata?.event_payload ?? {};
  return metadata?.event_type === EVENT_TYPE && payload.post_id === postId;
}
