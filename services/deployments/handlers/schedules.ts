import { refuseField } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { checkPreview } from '../domain/schedules/check.ts';
import type { DeploymentsHandlerContext } from './context.ts';
import { upcomingMessage } from './schedule-messages.ts';

type Methods = Pick<Handlers<DeploymentsServiceDefinition>, 'listUpcoming' | 'previewSchedule'>;

const MAX_TIMES = 100;

export function scheduleHandlers(context: DeploymentsHandlerContext): Methods {
  const { access, times, clock, limits } = context;

  return {
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
