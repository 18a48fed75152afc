import { refuseField } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type {
  DeploymentsServiceDefinition,
  UpdateDeploymentRequest,
} from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { deploymentNotFound } from '../domain/deployments.ts';
import { applyChange, checkMetadata, checkName, checkPreview } from '../domain/schedules/check.ts';
import { deploymentImmutable, requireNoRevisions, typeImmutable } from '../domain/webhooks.ts';
import type { ScheduledDeployment } from '../store/schedules.ts';
import type { DeploymentsHandlerContext } from './context.ts';
import { upcomingMessage } from './schedule-messages.ts';

type Methods = Pick<
  Handlers<DeploymentsServiceDefinition>,
  'updateDeployment' | 'listUpcoming' | 'previewSchedule'
>;

const MAX_TIMES = 100;

export function scheduleHandlers(context: DeploymentsHandlerContext): Methods {
  const { schedules, access, messages, changes, times, sessionCheck, record, clock, limits } = context;
  const { wakeTickers, fireDue } = context;

  /** Applies a request to a schedule. Throws when it is refused. */
  function apply(
    current: ScheduledDeployment,
    { name, metadata, schedule: change, ifRevisions }: UpdateDeploymentRequest,
  ): ScheduledDeployment {
    const { deployment, schedule } = current;
    checkRevision('schedule', deployment.revision, ifRevisions);
    const settings = change
      ? applyChange(schedule.settings, change, clock.now(), limits, deployment.createdAt)
      : schedule.settings;
    const entries = metadata?.entries ?? deployment.metadata;
    checkMetadata(entries);
    return changes.update(current, {
      settings,
      name: name === undefined ? deployment.name : checkName(name),
      metadata: entries,
      forgetsSession: change?.sessionId === '',
    });
  }

  return {
    async updateDeployment(request, call) {
      const { deployment, options } = await access.find(request, call);
      if (deployment.type === 'webhook') {
        requireNoRevisions(request.ifRevisions);
        throw deploymentImmutable();
      }
      if (request.type !== undefined && request.type !== deployment.type) throw typeImmutable();
      const found = await access.findSchedule(request, call);
      const { deploymentId, agentId, createdBy } = deployment;
      apply(found, request);
      const sessionId = request.schedule?.sessionId;
      if (sessionId) await sessionCheck(sessionId, { ownerId: createdBy, agentId }, call);
      await record({ action: 'deployment.update', targetId: deploymentId }, call);
      // The times that are due belong to the timing that they were computed with.
      if (request.schedule) await fireDue(deploymentId);
      const decide = (current: ScheduledDeployment) => apply(current, request);
      const changed = await schedules.change(deploymentId, decide, clock.now(), options);
      if (!changed) throw deploymentNotFound();
      wakeTickers(deploymentId);
      return messages.response(changed.deployment, call, options);
    },

    async listUpcoming(request, call) {
      const count = checkedCount(request.count);
      const { deployment, schedule } = await access.viewSchedule(request, call);
      const { timing, jitterSeconds } = schedule.settings;
      const found = times.upcoming(timing, deployment.createdAt, request.from, count);
      const dueAt = (at: Date) => times.dueAt(deployment.deploymentId, at, jitterSeconds);
      return { times: found.map((time) => upcomingMessage(time, dueAt(time.at))) };
    },

    async previewSchedule(request) {
      const count = checkedCount(request.count);
      const now = clock.now();
      const timing = checkPreview(request.timing, request.jitterSeconds, now, limits);
      const found = times.upcoming(timing, now, request.from, count);
      return { times: found.map((time) => upcomingMessage(time, time.at)) };
    },
  };
}

function checkedCount(count: number): number {
  if (count < 1 || count > MAX_TIMES) throw refuseField('/count', `must be from 1 to ${MAX_TIMES}`);
  return count;
}
