import { Type } from 'typebox';
import type { Deployment } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { ChannelCreationBody, ChannelShape, CreatedChannelShape, serializeChannel } from './channels.ts';
import { ScheduleCreationBody, ScheduleShape, serializeSchedule } from './schedules.ts';
import { CreatedWebhookShape, serializeWebhook, WebhookCreationBody, WebhookShape } from './webhooks.ts';

export const DEPLOYMENT_TYPES = ['webhook', 'schedule', 'channel'] as const;

const byType = { discriminator: { propertyName: 'type' } };

export const DeploymentCreationBody = Type.Union(
  [WebhookCreationBody, ScheduleCreationBody, ChannelCreationBody],
  {
    title: 'NewDeployment',
    ...byType,
  },
);

export const DeploymentShape = Type.Union([WebhookShape, ScheduleShape, ChannelShape], {
  title: 'Deployment',
  ...byType,
});

export const CreatedDeploymentShape = Type.Union([CreatedWebhookShape, ScheduleShape, CreatedChannelShape], {
  title: 'CreatedDeployment',
  ...byType,
});

export function serializeDeployment(deployment: Deployment | undefined) {
  if (!deployment) throw new Error('The deployments service has returned no deployment.');
  if (deployment.type === 'channel') return serializeChannel(deployment);
  return deployment.type === 'schedule' ? serializeSchedule(deployment) : serializeWebhook(deployment);
}
