import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import type { Secret } from '../../../lib/secret.ts';
import type {
  ChannelIdentity,
  ConversationPlace,
  InboundEvent,
  InboundFile,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type {
  ChannelCheck,
  ChannelConfig,
  PostApproval,
} from '../../../proto/gen/ahs/deployments/v1/channels.ts';

/**
 * The seam to messaging products. services/channels/products/<name>/product.ts exports one function that takes a
 * ProductContext and returns a Product; products/registry.ts loads it with the first channel of that product, so the
 * vendor's library costs nothing before.
 *
 * The worker does the rest: leases, order, backoff, rate limits, the comparison of wanted and shown posts, and lost answers.
 * A product therefore sends each request once, with the retries of its library off, and reports every failure as a
 * ProductError. It stores nothing, and no secret or body of the product is logged.
 *
 * Every method that takes a signal ends soon after the signal aborts.
 */
export interface Product {
  readonly provider: string;
  readonly rules: PostRules;
  /** Returns the client of a channel. Sends nothing and opens no connection. */
  open(channel: ProductChannel): ProductClient;
}

/** The dependencies of a product. */
export interface ProductContext {
  clock: Clock;
  log: Log;
  /** The base URL of SERVICE_CHANNELS_API_URLS. Undefined: the official one. */
  apiUrl: string | undefined;
  /** The URL of SERVICE_CHANNELS_PROXY. A transport that cannot use it throws ProductError `unauthorized`. */
  proxy: string | undefined;
  /** For URLs that messages contain. */
  outbound: Pick<OutboundClient, 'fetchWith'>;
  /** SERVICE_CHANNEL_FILE_MAX_BYTES. */
  fileMaxBytes: number;
}

/** A channel at one revision. A changed channel gets a new client. */
export interface ProductChannel {
  deploymentId: string;
  config: ChannelConfig;
  /** By name: see CredentialSummary in channels.proto, and webhook_secret for Telegram. */
  credentials: Readonly<Record<string, Secret>>;
  callbackUrl: string;
  /** The answer of `me`. Undefined before the first connection. */
  identity: ChannelIdentity | undefined;
}

/** The facts about a product that the pure renderer and the pace of posts need. All members are pure. */
export interface PostRules {
  /** The longest post, in units of `lengthOf`. Longer texts are cut between blocks. */
  maxLength: number;
  /** Texts of more parts become answer.md. Infinity: never. */
  maxParts: number;
  /** Returns the length of a Markdown text as the product counts it, after conversion to its own markup. */
  lengthOf(markdown: string): number;
  /** Returns the Markdown without mentions that notify people, such as @everyone. It may not change code blocks' length much. */
  disarm(markdown: string): string;
  /** The shortest time between two edits of a post, in milliseconds. */
  editIntervalMs(place: ConversationPlace): number;
  /** The token bucket of a method in a place: one token each `intervalMs`, at most `burst` tokens. */
  rateOf(method: PostMethod, place: ConversationPlace): { intervalMs: number; burst: number };
}

export type PostMethod = 'create' | 'edit' | 'upload';

/** The product's ids of a message and of its place, which is that of the conversation unless it has moved. */
export interface RepliedMessage {
  messageId: string;
  place: string;
}

export interface MovedPlace {
  place: ConversationPlace;
  /** Why no thread can be created in the place. Empty: the place has another id. */
  reason: string;
}

/** A post as the product shall show it. */
export interface ProductPost {
  /** pst_…: stored with the message where the product can (Slack: metadata; Discord: nonce), so that it can be found again. */
  postId: string;
  /** The same for each repetition of a create whose answer was lost; another one when a deleted post is created again. */
  revision: number;
  kind: 'message' | 'approval' | 'notice';
  place: ConversationPlace;
  /** Disarmed Markdown, at most `maxLength` long. Of an approval: tool, exact input and, when decided, the decision. */
  markdown: string;
  /** The text does not grow any more, unless the turn goes on after it was blocked. */
  isFinal: boolean;
  /**
   * Only of approvals. While `decision` is empty: the buttons Deny and, if `canAllow`, Allow, whose value is the approval_id
   * alone; otherwise a link to `consoleUrl` takes the place of Allow. After the decision: no buttons.
   */
  approval: PostApproval | undefined;
  /** Only of notices: the product's id of the one person who shall see it. Undefined: all. */
  privateTo: string | undefined;
  /**
   * The message that began the turn, to which a new post replies. A message that does not exist any more is no error.
   * Undefined: the post replies to none.
   */
  replyTo: RepliedMessage | undefined;
}

export interface OutboundFile {
  postId: string;
  place: ConversationPlace;
  name: string;
  mediaType: string;
  size: number;
  /** Reads the bytes. Can be called again for a repeated upload. */
  read(): AsyncIterable<Uint8Array>;
}

/** The client of one channel. */
export interface ProductClient {
  /** Asks the product who the bot is (auth.test, getMe, applications/@me). Throws `unauthorized` for a refused token. */
  me(signal: AbortSignal): Promise<ChannelIdentity>;
  /**
   * Registers webhook, interactions endpoint and commands for `config.mode`, and clears those that the mode does not use.
   * Has no further effect when it is repeated.
   */
  register(signal: AbortSignal): Promise<void>;
  /** Removes webhook, interactions endpoint and commands. */
  unregister(signal: AbortSignal): Promise<void>;
  /** Whether events arrive over a connection of the worker (socket, polling, gateway). False for http and pull. */
  readonly isReceiving: boolean;
  /**
   * Receives events until the signal aborts or the connection is lost; then it returns or throws, and the worker connects
   * again with backoff. Only called when `isReceiving`.
   */
  connect(receiver: EventReceiver, signal: AbortSignal): Promise<void>;
  /** Checks token, scopes, intents, webhook and commands; each check names what is missing. Changes nothing. */
  probe(signal: AbortSignal): Promise<ChannelCheck[]>;

  /**
   * Posts a message and returns its id for `editPost`, in any form that the product needs. Private notices may be sent as
   * ephemeral or direct messages; their id may be empty, because they are not edited.
   */
  createPost(post: ProductPost, signal: AbortSignal): Promise<string>;
  /** Whether `findPost` finds files, too. Default: true. */
  readonly findsFiles?: boolean;
  editPost(externalId: string, post: ProductPost, signal: AbortSignal): Promise<void>;
  deletePost(externalId: string, place: ConversationPlace, signal: AbortSignal): Promise<void>;
  /**
   * Shows a preview that disappears, instead of creating a post that is not final (Telegram: sendMessageDraft). Returns
   * whether the place has previews; false has no effect and the post is created. Absent: there are none.
   */
  showPreview?(post: ProductPost, signal: AbortSignal): Promise<boolean>;
  /**
   * The place to which the posts of a conversation go instead, as this client has learnt from the answer to a post. Undefined:
   * the same. Absent: places do not change.
   */
  movedPlace?(place: ConversationPlace): MovedPlace | undefined;
  /**
   * Looks for a post whose creation had no answer. Undefined: it does not exist, so it is created again. Absent: the
   * product offers nothing, so the post is created again and marked `maybe_duplicate`. A product whose create is idempotent
   * by post_id and revision (Discord: enforced nonce) returns undefined.
   */
  findPost?(
    post: { postId: string; place: ConversationPlace },
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Uploads a file into the place and returns the id of its message, or of the file. */
  uploadFile(file: OutboundFile, signal: AbortSignal): Promise<string>;

  /**
   * Returns the name of a sender whose event has none. Empty: not known, which delays no message. Absent: the events of the
   * product have names.
   */
  senderName?(senderId: string, signal: AbortSignal): Promise<string>;
  /** Returns the verified e-mail of a sender. Empty: none, or not known. Absent: the product tells no e-mails. */
  senderEmail?(senderId: string, signal: AbortSignal): Promise<string>;
  /**
   * Reads a file of a message from the product's own hosts; the token is sent to its own origin only. Throws `too_large`,
   * also while the bytes are read, and `gone`.
   */
  downloadFile(file: InboundFile, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Called once after the worker has handled an event with an `answer_token`: ends the deferred state of a command or click,
   * and shows `text` to its sender alone. An empty text ends the deferred state without a message, if the product has one.
   */
  answer(event: InboundEvent, text: string, signal: AbortSignal): Promise<void>;
  /** Ends the connections of this client. */
  close(): Promise<void>;
}

/** Takes the events of a connection. */
export interface EventReceiver {
  /** The state that `accept` stored last, as text: an offset, or a session and sequence number. Undefined: none. */
  readonly resumeState: string | undefined;
  /** The product has accepted the connection: the state becomes `connected`. */
  connected(): void;
  /**
   * Commits events as the product sent them, each a JSON text of the form that
   * services/deployments/channels/products/<name> parses, with the new resume state. Acknowledge, and move offset or
   * sequence number, only after it has resolved. When it rejects, end the connection without an acknowledgement.
   */
  accept(eventsJson: readonly string[], resumeState?: string): Promise<void>;
}
