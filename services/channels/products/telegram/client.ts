import type { Api } from 'grammy';
import type {
  ConversationPlace,
  InboundEvent,
  InboundFile,
} from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type {
  EventReceiver,
  MovedPlace,
  OutboundFile,
  ProductChannel,
  ProductClient,
  ProductContext,
  ProductPost,
  RepliedMessage,
} from '../product.ts';
import { ProductError } from '../product-error.ts';
import type { ApiSignal, BotApi } from './bot-api.ts';
import { downloadFile } from './download.ts';
import { keyboardOf } from './keyboard.ts';
import { plainTextOf } from './markup/escape.ts';
import { toTelegramHtml } from './markup/html.ts';
import { externalIdOf, referenceOf, topicOf } from './places.ts';
import { pollUpdates } from './polling.ts';
import { groupNotice, needsMessage, SENT_PRIVATELY, startInstruction } from './private-notice.ts';
import { probe } from './probe.ts';
import { isNotModified, isTooOld, isUnreachable, isUpgraded, type TelegramRefusal } from './refusal.ts';
import { readIdentity, register, unregister } from './registration.ts';
import type { TelegramTransport } from './transport.ts';
import { documentOf } from './upload.ts';

type Send = (bot: Api, chat: string, signal: ApiSignal) => Promise<{ message_id: number }>;

const HTML = { parse_mode: 'HTML', link_preview_options: { is_disabled: true } } as const;
/** Telegram refuses texts without a visible character. */
const INVISIBLE = /[\s\u200b-\u200f\u2060\ufeff]/g;
const NOTHING_VISIBLE = '…';

/** The client of one bot. */
export class TelegramClient implements ProductClient {
  readonly #context: ProductContext;
  readonly #channel: ProductChannel;
  readonly #api: BotApi;
  readonly #transport: TelegramTransport;
  /** The supergroups that have replaced groups, by the id of the group. */
  readonly #upgraded = new Map<string, string>();

  constructor(context: ProductContext, channel: ProductChannel, api: BotApi, transport: TelegramTransport) {
    this.#context = context;
    this.#channel = channel;
    this.#api = api;
    this.#transport = transport;
  }

  get isReceiving(): boolean {
    return this.#channel.config.mode === 'polling';
  }

  me(signal: AbortSignal) {
    return readIdentity(this.#api, signal);
  }

  register(signal: AbortSignal) {
    return register(this.#api, this.#channel, signal);
  }

  unregister(signal: AbortSignal) {
    return unregister(this.#api, this.#channel, signal);
  }

  connect(receiver: EventReceiver, signal: AbortSignal) {
    return pollUpdates(this.#api, this.#context.clock, receiver, signal);
  }

  probe(signal: AbortSignal) {
    return probe(this.#api, this.#channel, this.#context.clock.now(), signal);
  }

  async createPost(post: ProductPost, signal: AbortSignal): Promise<string> {
    const { place, privateTo, approval, markdown, replyTo } = post;
    if (privateTo !== undefined && place.isGroup) {
      const isSent = await this.#sendDirectly(privateTo, markdown, signal);
      if (!isSent) await this.#sendText(groupNotice(privateTo, this.#botName), place, signal);
      return '';
    }
    const keyboard = approval && { reply_markup: keyboardOf(approval) };
    return this.#sendText(htmlOf(markdown), place, signal, keyboard, replyTo);
  }

  async editPost(externalId: string, post: ProductPost, signal: AbortSignal): Promise<void> {
    const { chat, messageId } = referenceOf(externalId, post.place);
    // Without a keyboard, Telegram removes the buttons.
    const options = { ...HTML, ...(post.approval && { reply_markup: keyboardOf(post.approval) }) };
    await this.#api.call<unknown>(
      (bot, apiSignal) => bot.editMessageText(chat, messageId, htmlOf(post.markdown), options, apiSignal),
      signal,
      acceptEdit,
    );
  }

  async deletePost(externalId: string, place: ConversationPlace, signal: AbortSignal): Promise<void> {
    const { chat, messageId } = referenceOf(externalId, place);
    await this.#api.call<unknown>(
      (bot, apiSignal) => bot.deleteMessage(chat, messageId, apiSignal),
      signal,
      acceptEdit,
    );
  }

  async uploadFile(file: OutboundFile, signal: AbortSignal): Promise<string> {
    let failure: { error?: unknown } = {};
    const send: Send = (bot, chat, apiSignal) => {
      // The bytes are read again for each request.
      const upload = documentOf(file);
      failure = upload.failure;
      return bot.sendDocument(chat, upload.document, topicOptions(file.place), apiSignal);
    };
    try {
      return await this.#send(send, file.place, signal);
    } catch (error) {
      if (failure.error === undefined || signal.aborted) throw error;
      // An incomplete form has no effect.
      throw new ProductError('unavailable', 'The file could not be read from the workspace.');
    }
  }

  movedPlace(place: ConversationPlace): MovedPlace | undefined {
    const supergroup = this.#upgraded.get(place.place);
    return supergroup === undefined ? undefined : { place: { ...place, place: supergroup }, reason: '' };
  }

  downloadFile(file: InboundFile, signal: AbortSignal) {
    return downloadFile(this.#api, this.#transport, file, this.#context.fileMaxBytes, signal);
  }

  async answer({ answerToken, senderId }: InboundEvent, text: string, signal: AbortSignal): Promise<void> {
    let shown = plainTextOf(toTelegramHtml(text));
    if (needsMessage(shown)) {
      const isSent = await this.#sendDirectly(senderId, text, signal);
      shown = isSent ? SENT_PRIVATELY : startInstruction(this.#botName);
    }
    const options = shown === '' ? {} : { text: shown, show_alert: true };
    await this.#api.call<unknown>(
      (bot, apiSignal) => bot.answerCallbackQuery(answerToken, options, apiSignal),
      signal,
      (refusal) => isTooOld(refusal) || undefined,
    );
  }

  /** Connections are shared by the channels of the worker and close when they are idle. */
  async close(): Promise<void> {}

  get #botName(): string {
    return this.#channel.identity?.name ?? '';
  }

  #sendText(
    html: string,
    place: ConversationPlace,
    signal: AbortSignal,
    keyboard?: { reply_markup: ReturnType<typeof keyboardOf> },
    replyTo?: RepliedMessage,
  ): Promise<string> {
    const options = { ...HTML, ...topicOptions(place), ...keyboard };
    const send: Send = (bot, chat, apiSignal) => {
      // In the successor of a group, messages have other ids.
      const reply = replyTo?.place === chat ? replyOptions(replyTo) : {};
      return bot.sendMessage(chat, html, { ...options, ...reply }, apiSignal);
    };
    return this.#send(send, place, signal);
  }

  /** Sends into the place, or into the supergroup that has replaced its group. Returns the id of the post. */
  async #send(send: Send, place: ConversationPlace, signal: AbortSignal): Promise<string> {
    const chat = this.#upgraded.get(place.place) ?? place.place;
    let successor: string | undefined;
    const sent = await this.#api
      .call(
        (bot, apiSignal) => send(bot, chat, apiSignal),
        signal,
        ({ migrateToChatId }) => {
          successor = migrateToChatId?.toString();
          return undefined;
        },
      )
      .catch((error: unknown) => {
        if (successor === undefined || signal.aborted) throw error;
        return undefined;
      });
    if (sent) return externalIdOf({ chat, messageId: sent.message_id }, place);
    const supergroup = successor ?? chat;
    this.#upgraded.set(place.place, supergroup);
    const { message_id: messageId } = await this.#api.call(
      (bot, apiSignal) => send(bot, supergroup, apiSignal),
      signal,
    );
    return externalIdOf({ chat: supergroup, messageId }, place);
  }

  /** Returns false for a person that the bot may not write to. */
  #sendDirectly(personId: string, markdown: string, signal: AbortSignal): Promise<boolean> {
    return this.#api.call(
      async (bot, apiSignal) => {
        await bot.sendMessage(personId, htmlOf(markdown), HTML, apiSignal);
        return true;
      },
      signal,
      (refusal) => (isUnreachable(refusal) ? false : undefined),
    );
  }
}

function htmlOf(markdown: string): string {
  const html = toTelegramHtml(markdown);
  return plainTextOf(html).replace(INVISIBLE, '') === '' ? NOTHING_VISIBLE : html;
}

function replyOptions({ messageId }: RepliedMessage) {
  return { reply_parameters: { message_id: Number(messageId), allow_sending_without_reply: true } };
}

function topicOptions(place: ConversationPlace): { message_thread_id?: number } {
  const topic = topicOf(place);
  return topic === undefined ? {} : { message_thread_id: topic };
}

/** Messages of a group that became a supergroup cannot be changed any more. */
function acceptEdit(refusal: TelegramRefusal): true | undefined {
  if (isNotModified(refusal)) return true;
  if (isUpgraded(refusal)) throw new ProductError('missing', 'The group has become a supergroup.');
  return undefined;
}
