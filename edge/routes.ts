import type { Route } from './route.ts';
import { accessRoutes } from './routes/access.ts';
import { agentRoutes } from './routes/agents.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { assistantRoutes } from './routes/assistants.ts';
import { auditRoutes } from './routes/audit.ts';
import { loginRoutes } from './routes/auth/session.ts';
import { tokenRoutes } from './routes/auth/tokens.ts';
import { configurationRoutes } from './routes/configuration.ts';
import { conversationRoutes } from './routes/conversations.ts';
import { deploymentRoutes } from './routes/deployments.ts';
import { environmentRoutes } from './routes/environments.ts';
import { eventRoutes } from './routes/events.ts';
import { fileRoutes } from './routes/files/tree.ts';
import { forkRoutes } from './routes/forks.ts';
import { messageRoutes } from './routes/messages.ts';
import { sandboxRoutes } from './routes/sandboxes.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { turnRoutes } from './routes/turns.ts';
import { userRoutes } from './routes/users.ts';

/** Every operation that answers with JSON, in the order of the reference. The trigger and the stream stand beside them. */
export const ROUTES: readonly Route[] = [
  ...agentRoutes,
  ...accessRoutes,
  ...assistantRoutes,
  ...conversationRoutes,
  ...sessionRoutes,
  ...messageRoutes,
  ...turnRoutes,
  ...approvalRoutes,
  ...forkRoutes,
  ...eventRoutes,
  ...fileRoutes,
  ...deploymentRoutes,
  ...environmentRoutes,
  ...sandboxRoutes,
  ...loginRoutes,
  ...tokenRoutes,
  ...userRoutes,
  ...auditRoutes,
  ...configurationRoutes,
];
