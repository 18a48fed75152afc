import type { APIMessage, APIUser } from 'discord.js';
import { type Clock, wait } from '../../../../lib/clock.ts';
import { createDeliveryQueue } from '../deliveries.ts';
import type { FaultPlan } from '../faults.ts';
import { type DiscordApplication, signatureHeaders } from './application.ts';
import { alreadyAcknowledged, invalidForm, unknownInteraction } from './errors.ts';
import { checkMessageBody, type IndexedFile, type MessageBody } from './message-body.ts';
import { createMessage, EPHEMERAL, editMessage } from './messages.ts';
import { channelObject, memberObject, PERMISSIONS } from './objects.ts';
import { DIRECT, type DiscordState, type StoredChannel, type StoredInteraction } from './state.ts';

/** The first answer must come within 3 seconds; later ones within 15 minutes. */
const ANSWER_MS = 3_000;
const TOKEN_MS = 15 * 60_000;

export interface NewInteraction {
  application: DiscordApplication;
  user: APIUser;
  channel: StoredChannel;
  type: 2 | 3;
  data: object;
  message?: APIMessage;
}

export interface InteractionCallback {
  type: number;
  data?: MessageBody;
}

export interface EndpointRequest {
  kind: 'interaction' | 'ping' | 'wrongly signed';
  /** The status of the response, or undefined if there was none. */
  status: number | undefined;
}

/** The members of a message that answers an interaction: a command, or a click. */
export function answerMembers({
  id,
  application,
  user,
  channel,
  message,
}: StoredInteraction): Partial<APIMessage> {
  return {
    type: message ? 19 : 20,
    application_id: application.id,
    webhook_id: application.id,
    interaction_metadata: {
      ...{ id, type: message ? 3 : 2, user },
      authorizing_integration_owners: { 0: channel.guild?.id ?? '0' },
      ...(message && { interacted_message_id: message.id }),
    },
  } as Partial<APIMessage>;
}

/** Sends interactions to the endpoint of their application or, without one, to the gateway. */
export interface Interactions {
  readonly endpointRequests: readonly EndpointRequest[];
  create(interaction: NewInteraction): StoredInteraction;
  /** The answer to an interaction, by the REST API or in the response of the endpoint. */
  answer(
    interaction: StoredInteraction,
    callback: InteractionCallback,
    files: IndexedFile[],
  ): APIMessage | undefined;
  /** Returns an interaction whose token is valid. */
  find(id: string, token: string): StoredInteraction;
  /** Whether the endpoint answers a PING and refuses one with a wrong signature with 401. */
  validateEndpoint(application: DiscordApplication, url: string): Promise<boolean>;
  close(): void;
}

export function createInteractions(state: DiscordState, clock: Clock, faults: FaultPlan): Interactions {
  const endpointRequests: EndpointRequest[] = [];
  const stop = new AbortController();
  const now = () => clock.now().getTime();

  async function post(
    application: DiscordApplication,
    url: string,
    kind: EndpointRequest['kind'],
    payload: object,
  ): Promise<Response | undefined> {
    const record: EndpointRequest = { kind, status: undefined };
    endpointRequests.push(record);
    const body = JSON.stringify(payload);
    // The signature of other bytes has the right form and is wrong.
    const signed = kind === 'wrongly signed' ? `${body} ` : body;
    const headers = signatureHeaders(application.privateKey, Math.floor(now() / 1000), signed);
    try {
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(ANSWER_MS)]);
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      record.status = response.status;
      return response;
    } catch {
      return undefined;
    }
  }

  async function postInteraction(interaction: StoredInteraction, payload: object): Promise<void> {
    const { application } = interaction;
    const response = await post(
      application,
      application.interactionsEndpointUrl ?? '',
      'interaction',
      payload,
    );
    if (response?.status !== 200) return void (await response?.body?.cancel());
    const callback = (await response.json().catch(() => undefined)) as InteractionCallback | undefined;
    if (typeof callback?.type === 'number' && interaction.state === 'waiting')
      answer(interaction, callback, []);
  }

  const queue = createDeliveryQueue<() => Promise<void>>(faults, clock, (deliver) => void deliver());

  function create({ application, user, channel, type, data, message }: NewInteraction): StoredInteraction {
    const id = state.nextId();
    const token = Array.from({ length: 60 }, () => Math.floor(state.random() * 36).toString(36)).join('');
    const interaction: StoredInteraction = {
      ...{ id, token, application, user, channel, message, createdMs: now() },
      ...{ state: 'waiting', callbackType: undefined, isEphemeral: false, originalId: undefined },
    };
    state.interactions.set(id, interaction);
    const payload = payloadOf(interaction, type, data);
    const key = `interactions ${channel.id}`;
    if (application.interactionsEndpointUrl !== null)
      queue.add(key, () => postInteraction(interaction, payload));
    else
      for (const session of application.sessions)
        session.dispatch({ type: 'INTERACTION_CREATE', data: payload, channelId: channel.id, intents: 0 });
    void wait(clock, ANSWER_MS, stop.signal).then(() => {
      if (interaction.state === 'waiting') interaction.state = 'failed';
    });
    return interaction;
  }

  function payloadOf(
    { id, token, application, user, channel, message }: StoredInteraction,
    type: number,
    data: object,
  ) {
    const { guild } = channel;
    const isDirect = channel.type === DIRECT;
    return {
      id,
      application_id: application.id,
      type,
      data,
      token,
      version: 1,
      ...(guild
        ? {
            guild_id: guild.id,
            guild: { id: guild.id, locale: 'en-US', features: [] },
            guild_locale: 'en-US',
            member: { user, ...memberObject(guild, user.id), permissions: PERMISSIONS },
          }
        : { user }),
      channel_id: channel.id,
      channel: channelObject(channel),
      ...(message && { message }),
      locale: 'en-US',
      app_permissions: PERMISSIONS,
      entitlements: [],
      authorizing_integration_owners: { 0: guild?.id ?? '0' },
      context: isDirect ? 1 : 0,
      attachment_size_limit: 10_485_760,
    };
  }

  function answer(
    interaction: StoredInteraction,
    { type, data = {} }: InteractionCallback,
    files: IndexedFile[],
  ): APIMessage | undefined {
    if (interaction.state === 'failed') throw unknownInteraction();
    if (interaction.state !== 'waiting') throw alreadyAcknowledged();
    checkMessageBody(data);
    const isEphemeral = ((data.flags ?? 0) & EPHEMERAL) !== 0;
    const message = execute(interaction, type, data, files);
    Object.assign(interaction, { callbackType: type, isEphemeral, originalId: message?.id });
    interaction.state = type === 5 ? 'deferred' : 'answered';
    return message;
  }

  function execute(
    interaction: StoredInteraction,
    type: number,
    body: MessageBody,
    files: IndexedFile[],
  ): APIMessage | undefined {
    const { application, channel, message } = interaction;
    if (type === 4)
      return createMessage(state, channel, {
        ...{ author: application.bot, body, files },
        extra: answerMembers(interaction),
      });
    if (type === 5) return undefined;
    // The interaction shows the message at the time of the click.
    const clicked = message && channel.messages.get(message.id);
    if ((type === 6 || type === 7) && clicked)
      return type === 6 ? clicked : editMessage(state, channel, clicked, { body, files });
    throw invalidForm('type', 'BASE_TYPE_CHOICES', 'Value must be one of {4, 5, 6, 7, 8, 9, 10, 12}.');
  }

  return {
    endpointRequests,
    create,
    answer,
    find(id, token) {
      const interaction = state.interactions.get(id);
      if (interaction?.token !== token || now() - interaction.createdMs > TOKEN_MS)
        throw unknownInteraction();
      return interaction;
    },
    async validateEndpoint(application, url) {
      const ping = { id: state.nextId(), application_id: application.id, type: 1, token: 'a', version: 1 };
      const [right, wrong] = await Promise.all([
        post(application, url, 'ping', ping),
        post(application, url, 'wrongly signed', ping),
      ]);
      await wrong?.body?.cancel();
      const isJson = right?.headers.get('content-type')?.startsWith('application/json') ?? false;
      const pong = (await right?.json().catch(() => undefined)) as { type?: unknown } | undefined;
      return right?.status === 200 && isJson && pong?.type === 1 && wrong?.status === 401;
    },
    close() {
      stop.abort();
      queue.close();
    },
  };
}
