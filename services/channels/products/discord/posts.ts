import type { ConversationPlace } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { MovedPlace, OutboundFile, ProductPost, RepliedMessage } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { messageContent, newMessage, onceFor, referenceOf } from './content.ts';
import {
  CANNOT_MESSAGE_USER,
  CANNOT_REPLY,
  MISSING_PERMISSIONS,
  NO_THREADS_HERE,
  refusalError,
  THREAD_ARCHIVED,
  THREAD_EXISTS,
  TOO_MANY_THREADS,
  UNKNOWN_CHANNEL,
  UNKNOWN_MESSAGE,
} from './errors.ts';
import { canHaveNoThread, channelOf, writePermission } from './places.ts';
import type { RestApi } from './rest-api.ts';

/** Minutes without a message until Discord hides a thread. A further message shows it again. */
const ARCHIVE_MINUTES = 1_440;
const MAX_THREAD_NAME = 100;
/** Files are not deleted, so none is created again. */
const FIRST = 1;
const NOT_SENT =
  'I have a message that only you may read, and I may not send you direct messages. Allow direct messages from members of this server, and try again.';

const WITHOUT_THREADS: readonly number[] = [MISSING_PERMISSIONS, NO_THREADS_HERE, TOO_MANY_THREADS];

interface NewMessage {
  body: object;
  replyTo?: RepliedMessage | undefined;
  files?: { name: string; data: Buffer; contentType: string }[];
  permission?: string;
}

/** The messages of the bot. The id of a post is the id of its message. */
export class DiscordPosts {
  readonly #api: RestApi;
  readonly #botName: string;
  /** Why conversations have no threads, by the id that the thread would have. */
  readonly #withoutThread = new Map<string, string>();

  constructor(api: RestApi, botName: string) {
    this.#api = api;
    this.#botName = botName;
  }

  async create(post: ProductPost, signal: AbortSignal): Promise<string> {
    const { place, privateTo, replyTo } = post;
    const message = { body: newMessage(post), replyTo };
    if (privateTo === undefined || !place.isGroup) return this.#send(place, message, signal);
    const isSent = await this.sendDirectly(privateTo, message.body, signal);
    // The text itself can contain a one-time link.
    if (!isSent) {
      const body = {
        ...newMessage({ ...post, markdown: `<@${privateTo}>: ${NOT_SENT}` }),
        allowed_mentions: { users: [privateTo] },
      };
      await this.#send(place, { body }, signal);
    }
    return '';
  }

  async edit(id: string, post: ProductPost, signal: AbortSignal): Promise<void> {
    const channel = channelOf(this.#placeOf(post.place));
    let isArchived = false;
    const change = () =>
      this.#api.request(
        'patch',
        `/channels/${channel}/messages/${id}`,
        {
          body: messageContent(post),
          accept: ({ code }) => {
            if (code === UNKNOWN_CHANNEL) throw gone();
            isArchived = code === THREAD_ARCHIVED;
            return undefined;
          },
        },
        signal,
      );
    try {
      await change();
    } catch (error) {
      if (!isArchived) throw error;
      await this.#api.request('patch', `/channels/${channel}`, { body: { archived: false } }, signal);
      await change();
    }
  }

  async delete(id: string, place: ConversationPlace, signal: AbortSignal): Promise<void> {
    const accept = ({ code }: { code: number }) => {
      if (code === UNKNOWN_CHANNEL) throw gone();
      return undefined;
    };
    await this.#api.request(
      'delete',
      `/channels/${channelOf(this.#placeOf(place))}/messages/${id}`,
      { accept },
      signal,
    );
  }

  async upload({ postId, place, name, mediaType, read }: OutboundFile, signal: AbortSignal): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of read()) chunks.push(chunk);
    const data = Buffer.concat(chunks);
    return this.#send(
      place,
      {
        body: { ...onceFor({ postId, revision: FIRST }), allowed_mentions: { parse: [] } },
        files: [{ name, data, contentType: mediaType || 'application/octet-stream' }],
        permission: 'Attach Files',
      },
      signal,
    );
  }

  /** Returns false for a person who takes no direct messages from the bot. */
  async sendDirectly(personId: string, body: object, signal: AbortSignal): Promise<boolean> {
    let isRefused = false;
    const accept = ({ code }: { code: number }) => {
      isRefused = code === CANNOT_MESSAGE_USER;
      return isRefused ? {} : undefined;
    };
    const direct = await this.#api.request<{ id?: string }>(
      'post',
      '/users/@me/channels',
      { body: { recipient_id: personId }, accept },
      signal,
    );
    if (isRefused || direct.id === undefined) return false;
    await this.#api.request('post', `/channels/${direct.id}/messages`, { body, accept }, signal);
    return !isRefused;
  }

  /** Sends into the place. A conversation that began with a message in a channel gets its thread with the first answer. */
  async #send(given: ConversationPlace, message: NewMessage, signal: AbortSignal): Promise<string> {
    const place = this.#placeOf(given);
    const { permission = writePermission(place), replyTo, body, files } = message;
    let isAbsent = false;
    let mayNotReply = false;
    const post = async (): Promise<string> => {
      const { id = '' } = await this.#api.request<{ id?: string }>(
        'post',
        `/channels/${channelOf(place)}/messages`,
        {
          body: { ...body, ...referenceOf({ replyTo, place }) },
          ...(files && { files }),
          permission,
          accept: ({ code }) => {
            isAbsent = code === UNKNOWN_CHANNEL && canHaveNoThread(place);
            mayNotReply = code === CANNOT_REPLY;
            return undefined;
          },
        },
        signal,
      );
      if (id === '') throw new ProductError('ambiguous', 'The answer of Discord has no message id.');
      return id;
    };
    try {
      return await post();
    } catch (error) {
      if (mayNotReply) return this.#send(place, { ...message, replyTo: undefined }, signal);
      if (!isAbsent) throw error;
      const problem = await this.#startThread(place, signal);
      if (problem === '') return post();
      this.#withoutThread.set(place.thread, problem);
      return this.#send(place, message, signal);
    }
  }

  /** The channel itself takes the posts of a conversation whose thread cannot be created. */
  movedPlace(place: ConversationPlace): MovedPlace | undefined {
    const problem = this.#withoutThread.get(place.thread);
    if (problem === undefined) return undefined;
    const reason = `The conversation has no thread, so it goes on with replies in the channel. ${problem}`;
    return { place: { ...place, thread: '' }, reason };
  }

  #placeOf(place: ConversationPlace): ConversationPlace {
    return this.movedPlace(place)?.place ?? place;
  }

  /** Returns why no thread can be created; empty when it exists. Another worker may have created it at the same time. */
  async #startThread({ place, thread }: ConversationPlace, signal: AbortSignal): Promise<string> {
    const name = `Conversation with ${this.#botName || 'the agent'}`.slice(0, MAX_THREAD_NAME).toWellFormed();
    const permission = 'Create Public Threads';
    const { problem = '' } = await this.#api.request<{ problem?: string }>(
      'post',
      `/channels/${place}/messages/${thread}/threads`,
      {
        body: { name, auto_archive_duration: ARCHIVE_MINUTES },
        permission,
        accept: (refusal) => {
          const { code } = refusal;
          if (code === UNKNOWN_MESSAGE)
            throw new ProductError('refused', 'The first message of the conversation was deleted.');
          if (code === THREAD_EXISTS) return {};
          const isImpossible = WITHOUT_THREADS.includes(code);
          return isImpossible ? { problem: refusalError(refusal, permission).message } : undefined;
        },
      },
      signal,
    );
    return problem;
  }
}

function gone(): ProductError {
  return new ProductError('missing', 'The channel or thread does not exist any more.');
}
