import { openOperatorTransport } from '../../../../lib/outbound/operator-transport.ts';
import type { EventReceiver, Product, ProductChannel, ProductClient, ProductContext } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { answerInteraction, deferredAnswer } from './answers.ts';
import { publicCredentials } from './credentials.ts';
import { downloadFile } from './files.ts';
import { type GatewayEvent, receiveDispatches } from './gateway.ts';
import { interactionIn, isUsedEvent } from './gateway-events.ts';
import { restApiUrl } from './hosts.ts';
import { DiscordPosts } from './posts.ts';
import { probe } from './probe.ts';
import { readIdentity, register, unregister } from './registration.ts';
import { RestApi, type RestApiOptions } from './rest-api.ts';
import { discordRules } from './rules.ts';
import { discordTransport } from './transport.ts';

/** Discord, with the REST API for requests and, in the mode `gateway`, the gateway for events. */
export async function createDiscordProduct(context: ProductContext): Promise<Product> {
  const transport = discordTransport(await openOperatorTransport({ proxy: context.proxy }));
  const rest: RestApiOptions = { apiUrl: restApiUrl(context.apiUrl), transport };
  return {
    provider: 'discord',
    rules: discordRules,
    open: (channel) => openClient(channel, rest, context),
  };
}

function openClient(channel: ProductChannel, rest: RestApiOptions, context: ProductContext): ProductClient {
  const { config, credentials, identity } = channel;
  const { apiUrl, transport } = rest;
  const { clock, proxy, fileMaxBytes: maxBytes } = context;
  const api = new RestApi(credentials.bot_token, rest);
  const applicationId = publicCredentials(channel).applicationId;
  const posts = new DiscordPosts(api, identity?.name ?? '');
  const closed = new AbortController();

  async function connect(receiver: EventReceiver, signal: AbortSignal): Promise<void> {
    if (proxy !== undefined)
      throw new ProductError(
        'unauthorized',
        'The connection to the gateway of Discord cannot use SERVICE_CHANNELS_PROXY. Set the mode of the channel to http.',
      );
    const ends = AbortSignal.any([signal, closed.signal]);
    // The application and its bot have the same id, except for the oldest ones.
    const botId = identity?.botId ?? applicationId;
    await receiveDispatches(
      {
        ...{ api, apiUrl, clock, applicationId, receiver },
        isUsed: (event) => isUsedEvent(event, botId),
        acknowledge: (event) => acknowledge(event, ends),
      },
      ends,
    );
  }

  /** Discord shows a failure if this is lost. An event that comes again was acknowledged before. */
  function acknowledge(event: GatewayEvent, signal: AbortSignal): void {
    const interaction = interactionIn(event);
    if (!interaction) return;
    const { id, token, type } = interaction;
    const request = { auth: false, body: deferredAnswer(type) };
    api.request('post', `/interactions/${id}/${token}/callback`, request, signal).catch(() => {});
  }

  return {
    isReceiving: config.mode === 'gateway',
    me: (signal) => readIdentity(api, applicationId, signal),
    register: (signal) => register(api, channel, signal),
    unregister: (signal) => unregister(api, channel, signal),
    connect,
    probe: (signal) => probe(api, channel, signal),
    createPost: (post, signal) => posts.create(post, signal),
    editPost: (externalId, post, signal) => posts.edit(externalId, post, signal),
    deletePost: (externalId, place, signal) => posts.delete(externalId, place, signal),
    // A repeated create returns the message that exists.
    findPost: async () => undefined,
    movedPlace: (place) => posts.movedPlace(place),
    uploadFile: (file, signal) => posts.upload(file, signal),
    downloadFile: (file, signal) => downloadFile(file, { apiUrl, transport, maxBytes }, signal),
    answer: (event, text, signal) =>
      answerInteraction(event, text, { api, posts, clock, applicationId }, signal),
    close: async () => closed.abort(),
  };
}
