import { refuse, refuseField } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type {
  DeploymentsServiceDefinition,
  UpdateDeploymentRequest,
} from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { Credentials } from '../channels/channel-sealing.ts';
import { changeConfig } from '../domain/channels/config.ts';
import { type Deployment, deploymentNotFound } from '../domain/deployments.ts';
import { applyChange, checkMetadata, checkName } from '../domain/schedules/check.ts';
import { deploymentImmutable, requireNoRevisions, typeImmutable } from '../domain/webhooks.ts';
import type { ChannelChange, ChannelDeployment } from '../store/channels.ts';
import type { ScheduledDeployment } from '../store/schedules.ts';
import type { FoundDeployment } from './access.ts';
import { openCredentialsOf } from './channels/sealed-credentials.ts';
import type { DeploymentsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<DeploymentsServiceDefinition>, 'updateDeployment'>;

export function updateHandlers(context: DeploymentsHandlerContext): Methods {
  const { schedules, channels, access, messages, changes, channelChanges, sessionCheck, sealer } = context;
  const { refreshBots, record, clock, limits, announce, wakeTickers, wakeWorkers, fireDue } = context;

  /** Applies a request to a schedule. Throws when it is refused. */
  function applyToSchedule(
    current: ScheduledDeployment,
    request: UpdateDeploymentRequest,
  ): ScheduledDeployment {
    const { deployment, schedule } = current;
    const { schedule: change } = request;
    checkRevision('schedule', deployment.revision, request.ifRevisions);
    const settings = change
      ? applyChange(schedule.settings, change, clock.now(), limits, deployment.createdAt)
      : schedule.settings;
    return changes.update(current, {
      settings,
      ...namingOf(deployment, request),
      forgetsSession: change?.sessionId === '',
    });
  }

  async function updateSchedule(request: UpdateDeploymentRequest, call: Call) {
    const found = await access.findSchedule(request, call);
    const { deploymentId, agentId, createdBy } = found.deployment;
    applyToSchedule(found, request);
    const sessionId = request.schedule?.sessionId;
    if (sessionId) await sessionCheck(sessionId, { ownerId: createdBy, agentId }, call);
    await record({ action: 'deployment.update', targetId: deploymentId }, call);
    // The times that are due belong to the timing that they were computed with.
    if (request.schedule) await fireDue(deploymentId);
    const decide = (current: ScheduledDeployment) => applyToSchedule(current, request);
    const changed = await schedules.change(deploymentId, decide, clock.now(), found.options);
    if (!changed) throw deploymentNotFound();
    wakeTickers(deploymentId);
    return messages.response(changed.deployment, call, found.options);
  }

  /** Applies a request to a channel. Throws when it is refused. */
  function applyToChannel(
    current: ChannelDeployment,
    request: UpdateDeploymentRequest,
    given: Credentials,
  ): ChannelChange {
    const { deployment, channel } = current;
    checkRevision('channel', deployment.revision, request.ifRevisions);
    const config = changeConfig(channel.provider, channel.config, request.channel?.config);
    return channelChanges.update(current, { ...namingOf(deployment, request), config, given });
  }

  async function updateChannel(request: UpdateDeploymentRequest, call: Call) {
    const found = await access.findChannel(request, call);
    const { deploymentId } = found.deployment;
    const given = openCredentialsOf(request.channel?.credentials, sealer, 'updateDeployment', call);
    applyToChannel(found, request, given);
    const data = { credentials: Object.keys(given).toSorted() };
    await record({ action: 'deployment.update', targetId: deploymentId, data }, call);
    if (given.bot_token) await refreshBots(found.channel.provider, call);
    const decide = (current: ChannelDeployment) => applyToChannel(current, request, given);
    const changed = await channels.change(deploymentId, decide, found.options);
    if (!changed) throw deploymentNotFound();
    wakeWorkers(deploymentId);
    await announce(deploymentId);
    return messages.response(changed.deployment, call, found.options);
  }

  return {
    async updateDeployment(request, call) {
      const { deployment }: FoundDeployment = await access.find(request, call);
      const { type } = deployment;
      if (type === 'webhook') {
        requireNoRevisions(request.ifRevisions);
        throw deploymentImmutable();
      }
      if (request.type !== undefined && request.type !== type) throw typeImmutable();
      requireMembersOf(type, request);
      return type === 'schedule' ? updateSchedule(request, call) : updateChannel(request, call);
    },
  };
}

function namingOf({ name, metadata }: Deployment, request: UpdateDeploymentRequest) {
  const entries = request.metadata?.entries ?? metadata;
  checkMetadata(entries);
  return { name: request.name === undefined ? name : checkName(request.name), metadata: entries };
}

function requireMembersOf(
  type: 'schedule' | 'channel',
  { schedule, channel }: UpdateDeploymentRequest,
): void {
  if (type === 'channel' && schedule)
    throw refuse('INVALID_REQUEST', 'The deployment is a channel, which has no settings of a schedule.');
  if (type === 'schedule' && channel) {
    const pointer = channel.config ? '/config' : '/credentials';
    throw refuseField(pointer, 'must be set only for a channel');
  }
}
