import type { Deployment } from '../../gen/index.ts';
import { choiceParam, type RawSearch, textParam } from '../../parts/navigation/search-params.ts';

export const DEPLOYMENT_TYPES = ['webhook', 'schedule', 'channel'] as const;
export const DEPLOYMENT_STATUSES = ['enabled', 'disabled'] as const;

/** Query parameters of the deployment list. */
export interface DeploymentsSearch {
  q?: string | undefined;
  type?: Deployment['type'] | undefined;
  status?: Deployment['status'] | undefined;
}

export const readDeploymentsSearch = (search: RawSearch): DeploymentsSearch => ({
  q: textParam(search, 'q'),
  type: choiceParam(search, 'type', DEPLOYMENT_TYPES),
  status: choiceParam(search, 'status', DEPLOYMENT_STATUSES),
});

export interface NewDeploymentSearch {
  /** Default: webhook. */
  type?: Deployment['type'] | undefined;
  /** The preselected agent. */
  agent?: string | undefined;
  /** The webhook to replace, which belongs to `agent`. */
  replaces?: string | undefined;
}

export const readNewDeploymentSearch = (search: RawSearch): NewDeploymentSearch => ({
  type: choiceParam(search, 'type', DEPLOYMENT_TYPES),
  agent: textParam(search, 'agent'),
  replaces: textParam(search, 'replaces'),
});

export const SENDER_LANGUAGES = ['curl', 'node', 'python', 'go'] as const;
export type SenderLanguage = (typeof SENDER_LANGUAGES)[number];

export const DEPLOYMENT_TABS = [
  ...(['runs', 'settings', 'backfills'] as const),
  ...(['conversations', 'deliveries', 'posts', 'people', 'setup'] as const),
];

export interface DeploymentSearch {
  /** The open tab. Default: the runs of a schedule, the conversations of a channel. */
  tab?: (typeof DEPLOYMENT_TABS)[number] | undefined;
  /** The webhook that this one replaces. */
  replaces?: string | undefined;
  /** The agent of the replaced webhook, if it is a different one. */
  of?: string | undefined;
  /** Language of the example sender. */
  sender?: SenderLanguage | undefined;
}

export const readDeploymentSearch = (search: RawSearch): DeploymentSearch => ({
  tab: choiceParam(search, 'tab', DEPLOYMENT_TABS),
  replaces: textParam(search, 'replaces'),
  of: textParam(search, 'of'),
  sender: choiceParam(search, 'sender', SENDER_LANGUAGES),
});
