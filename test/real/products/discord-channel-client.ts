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
import type { Discord } from '../../support/products/discord/server.ts';

export interface ClientOptions {
  config?: Partial<ChannelConfig>;
  token?: string;
  applicationId?: string;
  callbackUrl?: string;
  fileMaxBytes?: number;
  apiUrl?: string;
  proxy?: string;
}

/** The client of Discord as the channel worker opens it, at the protocol server. */
export async function openDiscordClient(
  discord: Discord,
  options: ClientOptions = {},
): Promise<ProductClient> {
  const { config = {}, fileMaxBytes = 25 * 1024 * 1024 } = options;
  const { log } = createContext('');
  const registry = new ProductRegistry({
    clock: systemClock,
    log,
    outbound: new OutboundClient({ clock: systemClock }),
    apiUrls: { discord: options.apiUrl ?? discord.apiUrl },
    proxy: options.proxy,
    fileMaxBytes,
  });
  const product = await registry.load('discord');
  const { id, token, publicKey, bot } = discord.application;
  const identity = { botProfileId: '', appId: id, teamId: '', teamName: '' };
  return product.open({
    deploymentId: 'dep_1',
    config: { ...ChannelConfig.decode(Buffer.alloc(0)), mode: 'gateway', respondTo: 'mentions', ...config },
    credentials: {
      bot_token: new Secret(options.token ?? token),
      application_id: new Secret(options.applicationId ?? id),
      public_key: new Secret(publicKey),
    },
    callbackUrl: options.callbackUrl ?? 'https://agents.example.com/callback',
    identity: { ...identity, botId: bot.id, name: bot.username },
  });
}

export const channelPlace = (id: string, thread = '') => ({ place: id, thread, isGroup: true });
export const directPlace = (id: string) => ({ place: id, thread: '', isGroup: false });

export function post(members: Pick<ProductPost, 'place'> & Partial<ProductPost>): ProductPost {
  return {
    postId: 'pst_01K0000000000000000000000A',
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

/** A dispatch of the gateway as the client commits it. */
interface CommittedEvent {
  t: string;
  d: { content?: string; id?: string };
}

/** Collects the events that a client commits. `refusals` makes the next commits fail. */
export function createReceiver(resumeState?: string) {
  const state = { connected: 0, events: [] as CommittedEvent[], resumeState, refusals: 0 };
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
      if (next !== undefined) state.resumeState = next;
    },
  };
  const contents = () => state.events.filter(({ t }) => t === 'MESSAGE_CREATE').map(({ d }) => d.content);
  return { state, receiver, contents };
}
