import { systemClock } from '../../../lib/clock.ts';
import { OutboundClient } from '../../../lib/outbound/outbound-client.ts';
import { Secret } from '../../../lib/secret.ts';
import { ChannelConfig } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import type {
  EventReceiver,
  ProductClient,
  ProductPost,
} from '../../../services/channels/products/product.ts';
import { ProductRegistry } from '../../../services/channels/products/registry.ts';
import { createContext } from '../../support/context.ts';
import type { Telegram } from '../../support/products/telegram/server.ts';

export interface ClientOptions {
  config?: Partial<ChannelConfig>;
  token?: string;
  callbackUrl?: string;
  fileMaxBytes?: number;
  /** Multiplies the durations of timers. Default: 1. */
  timeScale?: number;
  apiUrl?: string;
  proxy?: string;
}

/** The client of Telegram as the channel worker opens it, at the protocol server. */
export async function openTelegramClient(
  telegram: Telegram,
  options: ClientOptions = {},
): Promise<ProductClient> {
  const { config = {}, fileMaxBytes = 25 * 1024 * 1024, timeScale = 1 } = options;
  const { log } = createContext('');
  const clock = {
    ...systemClock,
    after: (ms: number, callback: () => void) => systemClock.after(ms * timeScale, callback),
  };
  const registry = new ProductRegistry({
    clock,
    log,
    outbound: new OutboundClient({ clock }),
    apiUrls: { telegram: options.apiUrl ?? telegram.apiUrl },
    proxy: options.proxy,
    fileMaxBytes,
  });
  const product = await registry.load('telegram');
  const { user, token } = telegram.bot;
  const identity = { botProfileId: '', appId: '', teamId: '', teamName: '' };
  return product.open({
    deploymentId: 'dep_1',
    config: { ...ChannelConfig.decode(Buffer.alloc(0)), mode: 'polling', respondTo: 'mentions', ...config },
    credentials: {
      bot_token: new Secret(options.token ?? token),
      webhook_secret: new Secret('webhook-secret'),
    },
    callbackUrl: options.callbackUrl ?? 'https://agents.example.com/callback',
    identity: { ...identity, botId: String(user.id), name: user.username },
  });
}

export const privatePlace = (id: number) => ({ place: String(id), thread: '', isGroup: false });
export const groupPlace = (id: number, topic?: number) => ({
  place: String(id),
  thread: topic === undefined ? '' : String(topic),
  isGroup: true,
});

export function post(members: Pick<ProductPost, 'place'> & Partial<ProductPost>): ProductPost {
  return {
    postId: 'pst_1',
    revision: 1,
    kind: 'message',
    markdown: 'Hello',
    isFinal: true,
    approval: undefined,
    privateTo: undefined,
    replyTo: undefined,
    ...members,
  };
}

/** Collects the events that a client commits. `refuse` makes the next commits fail. */
export function createReceiver(resumeState?: string) {
  const state = { connected: 0, events: [] as Record<string, unknown>[], resumeState, refusals: 0 };
  const receiver: EventReceiver = {
    get resumeState() {
      return state.resumeState;
    },
    connected: () => {
      state.connected++;
    },
    async accept(eventsJson, next) {
      if (state.refusals > 0) {
        state.refusals--;
        throw new Error('the database is away');
      }
      state.events.push(...eventsJson.map((json) => JSON.parse(json)));
      state.resumeState = next;
    },
  };
  return { state, receiver };
}
