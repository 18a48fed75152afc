import type { APIMessage } from 'discord.js';
import type { ProductRequest } from '../../http-server.ts';
import type { DiscordApplication } from '../application.ts';
import { missingAccess, missingPermissions, unknownChannel, unknownMessage } from '../errors.ts';
import type { Interactions } from '../interactions.ts';
import { EPHEMERAL } from '../messages.ts';
import { canView, type DiscordState, isRestricted, type Restriction, type StoredChannel } from '../state.ts';

/** One request to a route of the REST API. */
export interface RestCall {
  state: DiscordState;
  interactions: Interactions;
  /** The application of the bot token. Routes without authorization do not read it. */
  application: DiscordApplication;
  request: ProductRequest;
  /** A part of the path by its name in the route. */
  part(name: string): string;
  gatewayUrl(): string;
}

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path with named parts, such as `/channels/:channel/messages`. It names the route in fault plans. */
  path: string;
  /** Needs no bot token: a token in the path authorizes. These routes have no limits. */
  isOpen?: boolean;
  /** Returns the body of the response, or undefined for status 204. */
  run(call: RestCall): unknown;
}

/** Returns a channel that the bot sees, if it has the rights. */
export function findChannel({ state, application, part }: RestCall, ...rights: Restriction[]): StoredChannel {
  const channel = state.channels.get(part('channel'));
  if (!channel) throw unknownChannel();
  if (!canView(application, channel)) throw missingAccess();
  if (rights.some((right) => isRestricted(application, channel, right))) throw missingPermissions();
  return channel;
}

export function findMessage(channel: StoredChannel, id: string): APIMessage {
  const message = channel.messages.get(id);
  if (!message || isEphemeral(message)) throw unknownMessage();
  return message;
}

export const isEphemeral = ({ flags }: APIMessage) => ((flags ?? 0) & EPHEMERAL) !== 0;
