import type { Handlers } from '../../../../lib/grpc/contract.ts';
import type { DeploymentsServiceDefinition } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { ChannelCheck } from '../../domain/channels/check.ts';
import { shownState } from '../../domain/channels/connection.ts';
import { missingCredentials } from '../../domain/channels/credentials.ts';
import { setupSteps } from '../../domain/channels/setup/steps.ts';
import type { StoredChannel } from '../../store/channels.ts';
import type { DeploymentsHandlerContext } from '../context.ts';
import { callbackUrlOf } from './channel-messages.ts';

type Methods = Pick<Handlers<DeploymentsServiceDefinition>, 'probeChannel' | 'getChannelSetup'>;

/** Setup and checks of channels, for their owners. */
export function channelManagementHandlers(context: DeploymentsHandlerContext): Methods {
  const { access, connections, channelSealing, probes, record, clock, publicUrl } = context;

  return {
    async probeChannel(request, call) {
      const { deployment, channel, options } = await access.findChannel(request, call);
      const { deploymentId } = deployment;
      await record({ action: 'channel.probe', targetId: deploymentId }, call);
      const checks = missingChecks(channel) ?? (await probes.probe(deploymentId, call));
      // No worker can ask a product that sends requests and pulls posts by itself.
      if (channel.provider === 'http')
        checks.push(firstMessageCheck(await connections.hasDelivery(deploymentId, options)));
      return { checks, checkedAt: clock.now() };
    },

    async getChannelSetup(request, call) {
      const { deployment, channel, options } = await access.viewChannel(request, call);
      const { deploymentId } = deployment;
      const [[connection], hasDelivery] = await Promise.all([
        connections.byIds([deploymentId], options),
        connections.hasDelivery(deploymentId, options),
      ]);
      const steps = setupSteps(channel.provider, {
        name: deployment.name,
        config: channel.config,
        callbackUrl: callbackUrlOf(publicUrl(), deploymentId),
        credentialNames: channel.credentials.map(({ name }) => name),
        applicationId: channelSealing.applicationIdOf(channel),
        identity: channel.identity,
        connectionState: connection ? shownState(connection, clock.now()) : 'off',
        hasDelivery,
      });
      return { steps };
    },
  };
}

function firstMessageCheck(ok: boolean): ChannelCheck {
  const problem = ok ? '' : 'No signed request has arrived yet. Send a message to the callback URL.';
  return { name: 'first_message', ok, problem };
}

/** A channel without its credentials cannot be checked at its product. */
function missingChecks({ provider, config, credentials }: StoredChannel): ChannelCheck[] | undefined {
  const names = credentials.map(({ name }) => name);
  const missing = missingCredentials(provider, config.mode, names);
  if (missing.length === 0) return undefined;
  return missing.map((name) => ({ name, ok: false, problem: `Set the credential ${name}.` }));
}
