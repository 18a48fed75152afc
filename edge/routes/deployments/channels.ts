import { ok } from '../../envelope.ts';
import { route } from '../../route.ts';
import { serializeTime } from '../../schemas/common.ts';
import {
  ProbeShape,
  SetupShape,
  serializeCheck,
  serializeSetupStep,
} from '../../schemas/deployments/channel-setup.ts';
import { deploymentRef, OF_CHANNEL, ONE } from './address.ts';

/** A channel worker calls the product. */
const PROBE_TIMEOUT_MS = 30_000;

export const channelRoutes = [
  route({
    method: 'POST',
    path: `${ONE}/probe`,
    access: 'write',
    operationId: 'probeChannel',
    tag: 'Deployments',
    summary: 'Check a channel',
    description:
      'Calls the product with the credentials of the channel and names each missing scope, intent or webhook. Fails with ' +
      'DEPENDENCY_UNAVAILABLE when no channel worker runs.',
    success: { status: 200, description: 'The checks.', data: ProbeShape },
    errors: OF_CHANNEL,
    async answer(exchange) {
      const { checks, checkedAt } = await exchange.clients.deployments.probeChannel(deploymentRef(exchange), {
        ...exchange.call,
        timeoutMs: PROBE_TIMEOUT_MS,
      });
      return ok({ checks: checks.map(serializeCheck), checked_at: serializeTime(checkedAt) });
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/setup`,
    access: 'read',
    operationId: 'getChannelSetup',
    tag: 'Deployments',
    summary: 'Get the setup steps of a channel',
    description:
      'Returns the steps at the product, in order, with the texts to copy: for example the manifest of a Slack app.',
    success: { status: 200, description: 'The steps.', data: SetupShape },
    errors: OF_CHANNEL,
    async answer(exchange) {
      const { clients, call } = exchange;
      const { steps } = await clients.deployments.getChannelSetup(deploymentRef(exchange), call);
      return ok({ steps: steps.map(serializeSetupStep) });
    },
  }),
];
