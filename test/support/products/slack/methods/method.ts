import type { CallArguments } from '../arguments.ts';
import { SlackError } from '../error.ts';
import type { Json } from '../objects.ts';
import type { SocketMode } from '../socket-mode.ts';
import type { SlackChannel, Workspace } from '../workspace.ts';

export interface CallContext {
  workspace: Workspace;
  args: CallArguments;
  /** The origin of the server, for addresses of files. */
  origin: string;
  socketUrl: string;
  sockets: SocketMode;
  overrides: Overrides;
}

/** Addresses that responses have instead of those of this server, to test that a client refuses them. */
export interface Overrides {
  /** The URL of `apps.connections.open`. */
  socketUrl?: string;
  /** Downloads redirect to this URL. */
  downloadLocation?: string;
}

export interface Method {
  token: 'bot' | 'app';
  /** The scope that the call needs. It can depend on the kind of the channel. */
  scope?(context: CallContext): string | undefined;
  /** Returns the members of the response beside `ok`. Throws a SlackError. */
  run(context: CallContext): Json;
}

export type Methods = Readonly<Record<string, Method>>;

/** The channel of an argument. Throws `channel_not_found`, also for private channels without the bot. */
export function channelOf({ workspace, args }: CallContext, name = 'channel'): SlackChannel {
  const channel = findChannel(workspace, args.text(name));
  const isHidden = channel?.kind !== 'channel' && !channel?.members.has(workspace.app.botUser);
  if (!channel || isHidden) throw new SlackError('channel_not_found');
  return channel;
}

/** Finds a channel by id, or the direct messages of a user by the id of the user. */
export function findChannel(workspace: Workspace, id: string | undefined): SlackChannel | undefined {
  if (id === undefined) return undefined;
  const user = workspace.users.get(id);
  return user && !user.isBot ? workspace.directMessages(user.id) : workspace.channels.get(id);
}

const KIND_SCOPES = { channel: 'channels', group: 'groups', im: 'im' } as const;

/** The scope `channels:x`, `groups:x` or `im:x`, by the kind of the channel of an argument. */
export function kindScope(what: 'read' | 'history'): (context: CallContext) => string {
  return ({ workspace, args }) =>
    `${KIND_SCOPES[findChannel(workspace, args.text('channel'))?.kind ?? 'channel']}:${what}`;
}

/** Requires the bot to be a member, as writing does. */
export function requireMember({ app }: Workspace, { members, isArchived }: SlackChannel): void {
  if (isArchived) throw new SlackError('is_archived');
  if (!members.has(app.botUser)) throw new SlackError('not_in_channel');
}
