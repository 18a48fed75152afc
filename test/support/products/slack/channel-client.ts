import { systemClock } from '../../../../lib/clock.ts';
import { createLog } from '../../../../lib/log.ts';
import { Secret } from '../../../../lib/secret.ts';
import type { ChannelConfig } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type {
  EventReceiver,
  ProductClient,
  ProductPost,
} from '../../../../services/channels/products/product.ts';
import { ProductError } from '../../../../services/channels/products/product-error.ts';
import { ProductRegistry } from '../../../../services/channels/products/registry.ts';
import type { SlackServer } from './server.ts';

interface ClientOptions {
  mode?: 'http' | 'socket';
  config?: Partial<ChannelConfig>;
  proxy?: string;
  fileMaxBytes?: number;
  credentials?: Record<string, string>;
}

const CONFIG = {
  ...{ mode: undefined, respondTo: undefined, access: undefined, owner: undefined, approvers: undefined },
  ...{ busy: undefined, edits: undefined, showTools: undefined, perChat: undefined, filesIn: true },
  ...{ filesOut: true, trustEmail: false, newSessionAfterIdleSeconds: undefined, greeting: undefined },
};

/** Opens the client of a channel as the worker does. */
export async function openChannelClient(
  slack: SlackServer,
  options: ClientOptions = {},
): Promise<ProductClient> {
  const { mode = 'http', config = {}, proxy, fileMaxBytes = 1024 * 1024, credentials } = options;
  const { botToken: bot_token, appToken: app_token, signingSecret: signing_secret } = slack;
  const products = new ProductRegistry({
    clock: systemClock,
    log: createLog({ level: 'silent' }),
    outbound: { fetchWith: () => () => Promise.reject(new Error('no such request')) },
    apiUrls: { slack: slack.apiUrl },
    proxy,
    fileMaxBytes,
  });
  const product = await products.load('slack');
  const tokens = { bot_token, app_token, signing_secret, ...credentials };
  return product.open({
    deploymentId: 'dep_1',
    config: { ...CONFIG, mode, ...config },
    credentials: Object.fromEntries(Object.entries(tokens).map(([name, text]) => [name, new Secret(text)])),
    callbackUrl: 'https://agents.example.org/callback',
    identity: undefined,
  });
}

/** A post for a channel, or for a thread of it. */
export function postFor(place: string, thread = '', members: Partial<ProductPost> = {}): ProductPost {
  return {
    postId: 'pst_1',
    revision: 1,
    kind: 'message',
    place: { place, thread, isGroup: !place.startsWith('D') },
    markdown: '**answer**',
    isFinal: true,
    approval: undefined,
    privateTo: undefined,
    replyTo: undefined,
    ...members,
  };
}

export interface RecordedReceiver extends EventReceiver {
  /** The committed events, in order. */
  events: { type: string; payload: Record<string, unknown> & { event?: { text?: string; ts?: string } } }[];
  connections: number;
}

/** Takes events. `accept` is called before an event counts as committed. */
export function recordingReceiver(accept: () => Promise<void> = async () => {}): RecordedReceiver {
  const receiver: RecordedReceiver = {
    events: [],
    connections: 0,
    resumeState: undefined,
    connected: () => void receiver.connections++,
    async accept(eventsJson) {
      await accept();
      receiver.events.push(...eventsJson.map((json) => JSON.parse(json)));
    },
  };
  return receiver;
}

/** Returns the ProductError of a call; fails if there is none. */
export async function productErrorOf(call: Promise<unknown>): Promise<ProductError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ProductError) return error;
    throw error;
  }
  throw new Error('the call did not fail');
}
