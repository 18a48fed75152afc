import type { ChannelStatus } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import { configMessage } from '../../channels/config-message.ts';
import { type Connection, shownState } from '../../domain/channels/connection.ts';
import { warningsOf } from '../../domain/channels/warnings.ts';
import type { StoredChannel } from '../../store/channels.ts';
import type { ObservedConnection } from '../../store/connections.ts';

/** The URL that a product calls. `publicUrl` has no slash at its end. */
export function callbackUrlOf(publicUrl: string, deploymentId: string): string {
  return `${publicUrl}/api/v1/deployments/${deploymentId}/callback`;
}

export function channelMessage(
  { provider, config, credentials, identity }: StoredChannel,
  connection: Connection & Partial<Pick<ObservedConnection, 'lastEventAt'>>,
  callbackUrl: string,
  now: Date,
): ChannelStatus {
  return {
    provider,
    config: configMessage(config),
    credentials: [...credentials],
    callbackUrl,
    connection: {
      mode: config.mode,
      state: shownState(connection, now),
      since: connection.since,
      lastEventAt: connection.lastEventAt ?? undefined,
      lastError: connection.lastError ?? '',
      botName: identity?.name ?? '',
    },
    warnings: warningsOf(provider, config, callbackUrl),
  };
}
