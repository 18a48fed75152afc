import { openOperatorTransport } from '../../../../lib/outbound/operator-transport.ts';
import { slackBotScopes } from '../../../../lib/product-permissions.ts';
import type { ChannelIdentity } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ChannelCheck } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { EventReceiver, Product, ProductChannel, ProductClient, ProductContext } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { answerAt } from './answers.ts';
import { SlackFiles } from './files.ts';
import { webApiUrl } from './hosts.ts';
import { SlackPeople } from './people.ts';
import { SlackPosts } from './posts.ts';
import { scopeChecks, tokenCheck } from './probe.ts';
import { slackRules } from './rules.ts';
import { openSocket } from './socket.ts';
import { receiveEvents } from './socket-mode.ts';
import { WebApi, type WebApiOptions } from './vendor-clients.ts';

/** Slack, with the Web API for requests and, in the mode `socket`, Socket Mode for events. */
export async function createSlackProduct(context: ProductContext): Promise<Product> {
  const { proxy } = context;
  const transport = await openOperatorTransport({ proxy });
  const web: WebApiOptions = { apiUrl: webApiUrl(context.apiUrl), transport };
  return {
    provider: 'slack',
    rules: slackRules,
    open: (channel) => openClient(channel, web, context),
  };
}

function openClient(channel: ProductChannel, web: WebApiOptions, context: ProductContext): ProductClient {
  const { config, credentials } = channel;
  const { clock, proxy, fileMaxBytes: maxBytes } = context;
  const { apiUrl } = web;
  const bot = new WebApi(credentials.bot_token, web);
  const people = new SlackPeople(bot);
  const posts = new SlackPosts(bot, clock);
  const files = new SlackFiles({ ...web, api: bot, clock, maxBytes });
  const isReceiving = config.mode === 'socket';
  const app = () => new WebApi(credentials.app_token, web);
  const closed = new AbortController();

  async function connect(receiver: EventReceiver, signal: AbortSignal): Promise<void> {
    const ends = AbortSignal.any([signal, closed.signal]);
    const api = app();
    await receiveEvents(
      {
        clock,
        receiver,
        open: async (onEnvelope, until) => {
          const transport = await openOperatorTransport({ proxy });
          return openSocket({ api, apiUrl, clock, transport, onEnvelope }, until);
        },
      },
      ends,
    );
  }

  async function probe(signal: AbortSignal): Promise<ChannelCheck[]> {
    let granted: string[] | undefined;
    const token = await problemOf(async () => {
      const { response_metadata } = await bot.call((client) => client.auth.test(), signal);
      granted = response_metadata?.scopes;
    });
    const { filesIn = true, filesOut = true, trustEmail = false } = config;
    return [
      tokenCheck('token', token),
      ...(token === undefined ? scopeChecks(granted, slackBotScopes({ filesIn, filesOut, trustEmail })) : []),
      ...(isReceiving ? [tokenCheck('app_token', await problemOf(() => openConnection(signal)))] : []),
    ];
  }

  /** Slack forgets a connection that is not made. */
  const openConnection = (signal: AbortSignal) =>
    app().call((client) => client.apps.connections.open({}), signal);

  return {
    isReceiving,
    me: (signal) => identityOf(bot, signal),
    // The owner of the app sets its URLs, events and commands with the manifest.
    register: async () => {},
    unregister: async () => {},
    connect,
    probe,
    createPost: (post, signal) => posts.create(post, signal),
    editPost: (externalId, post, signal) => posts.edit(externalId, post, signal),
    deletePost: (externalId, place, signal) => posts.delete(externalId, place, signal),
    // File messages of Slack have no metadata.
    findsFiles: false,
    findPost: ({ postId, place }, signal) => posts.find(postId, place, signal),
    uploadFile: (file, signal) => files.upload(file, signal),
    senderName: async (userId, signal) => (await people.find(userId, signal)).name,
    senderEmail: async (userId, signal) => (await people.find(userId, signal)).email,
    downloadFile: (file, signal) => files.download(file, signal),
    answer: (event, text, signal) => answerAt(event, text, web, signal),
    close: async () => closed.abort(),
  };
}

async function identityOf(bot: WebApi, signal: AbortSignal): Promise<ChannelIdentity> {
  const {
    user_id: botId = '',
    bot_id: botProfileId = '',
    user: name = '',
    team_id: teamId = '',
    team: teamName = '',
  } = await bot.call((client) => client.auth.test(), signal);
  return { botId, botProfileId, name, appId: await appOf(bot, botProfileId, signal), teamId, teamName };
}

/** Without the scope users:read, events are not compared with the app. */
async function appOf(bot: WebApi, profileId: string, signal: AbortSignal): Promise<string> {
  try {
    const { bot: profile } = await bot.call((client) => client.bots.info({ bot: profileId }), signal);
    return profile?.app_id ?? '';
  } catch (error) {
    const isRefused =
      error instanceof ProductError && (error.kind === 'unauthorized' || error.kind === 'refused');
    if (!isRefused) throw error;
    return '';
  }
}

/** Returns the message of a refusal; undefined for success. */
async function problemOf(check: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof ProductError) return error.message;
    throw error;
  }
}
