import type { ChannelConfig as ConfigMessage } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { ChannelConfig } from '../domain/channels/channel.ts';

/** All settings of a channel, with their defaults filled in. */
export function configMessage(config: ChannelConfig): ConfigMessage {
  const { access, approvers } = config;
  return {
    ...config,
    access: {
      mode: access.mode,
      people: { ids: [...access.people] },
      places: { ids: [...access.places] },
      allowExternal: access.allowExternal,
    },
    approvers: { policy: approvers.policy, userIds: [...approvers.userIds] },
    newSessionAfterIdleSeconds: config.newSessionAfterIdleSeconds ?? undefined,
    greeting: config.greeting ?? undefined,
  };
}
