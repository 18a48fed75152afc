import type { Route } from './route.ts';
import { agentRoutes } from './routes/agents.ts';
import { deploymentRoutes } from './routes/deployments.ts';
import { eventRoutes } from './routes/events.ts';
import { sessionRoutes } from './routes/sessions.ts';

/** Every operation that answers with JSON, in the order of the reference. The trigger and the stream stand beside them. */
export const ROUTES: readonly Route[] = [
  ...agentRoutes,
  ...sessionRoutes,
  ...eventRoutes,
  ...deploymentRoutes,
];
