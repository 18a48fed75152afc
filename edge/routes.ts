import { aiMessageRoutes, aiStreamRoutes } from './ai-stream/routes.ts';
import { a2aRoutes } from './protocols/a2a/routes.ts';
import { resourceMetadataRoutes } from './protocols/authorization/routes.ts';
import { mcpRoutes } from './protocols/mcp/routes.ts';
import { openaiRoutes } from './protocols/openai/routes.ts';
import type { Route } from './route.ts';
import { accessRoutes } from './routes/access.ts';
import { agentRoutes } from './routes/agents.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { assistantRoutes } from './routes/assistants.ts';
import { auditRoutes } from './routes/audit.ts';
import { connectionRoutes } from './routes/auth/connections.ts';
import { loginRoutes } from './routes/auth/login.ts';
import { loginSessionRoutes } from './routes/auth/session.ts';
import { tokenRoutes } from './routes/auth/tokens.ts';
import { configurationRoutes } from './routes/configuration.ts';
import { conversationRoutes } from './routes/conversations.ts';
import { backfillRoutes } from './routes/deployments/backfills.ts';
import { callbackRoutes } from './routes/deployments/callback.ts';
import { channelRoutes } from './routes/deployments/channels.ts';
import { deliveryRoutes } from './routes/deployments/deliveries.ts';
import { deploymentRoutes } from './routes/deployments/deployments.ts';
import { invocationRoutes } from './routes/deployments/invocations.ts';
import { linkRoutes } from './routes/deployments/links.ts';
import { postRoutes } from './routes/deployments/posts.ts';
import { runRoutes } from './routes/deployments/runs.ts';
import { scheduleRoutes } from './routes/deployments/schedules.ts';
import { environmentRoutes } from './routes/environments.ts';
import { eventRoutes } from './routes/events.ts';
import { exportRoutes } from './routes/export.ts';
import { extensionRoutes } from './routes/extensions.ts';
import { archiveRoutes } from './routes/files/archive.ts';
import { contentRoutes } from './routes/files/content.ts';
import { putContentRoutes } from './routes/files/put-content.ts';
import { fileRoutes } from './routes/files/tree.ts';
import { uploadRoutes } from './routes/files/upload.ts';
import { forkRoutes } from './routes/forks.ts';
import { mcpServerRoutes } from './routes/mcp-servers.ts';
import { messageRoutes } from './routes/messages.ts';
import { modelRoutes } from './routes/models.ts';
import { partRoutes } from './routes/parts.ts';
import { probeRoutes } from './routes/probes.ts';
import { sandboxRoutes } from './routes/sandboxes.ts';
import { sessionContextRoutes } from './routes/session-context.ts';
import { sessionExtensionRoutes } from './routes/session-extensions.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { skillPublishRoutes } from './routes/skills/publish.ts';
import { skillRoutes } from './routes/skills/skills.ts';
import { skillVersionRoutes } from './routes/skills/versions.ts';
import { streamRoutes } from './routes/stream.ts';
import { toolCallRoutes } from './routes/tool-calls.ts';
import { triggerRoutes } from './routes/trigger.ts';
import { turnRoutes } from './routes/turns.ts';
import { uploadsRoutes } from './routes/uploads.ts';
import { userRoutes } from './routes/users.ts';
import { vaultAssignmentRoutes } from './routes/vaults/assignments.ts';
import { credentialRoutes } from './routes/vaults/credentials.ts';
import { vaultRotationRoutes } from './routes/vaults/rotation.ts';
import { vaultRoutes } from './routes/vaults/vaults.ts';

/** Every operation of the API, in the order of the reference. */
export const ROUTES: readonly Route[] = [
  ...agentRoutes,
  ...accessRoutes,
  ...assistantRoutes,
  ...modelRoutes,
  ...conversationRoutes,
  ...sessionRoutes,
  ...sessionExtensionRoutes,
  ...sessionContextRoutes,
  ...messageRoutes,
  ...turnRoutes,
  ...approvalRoutes,
  ...toolCallRoutes,
  ...forkRoutes,
  ...eventRoutes,
  ...fileRoutes,
  ...deploymentRoutes,
  ...invocationRoutes,
  ...scheduleRoutes,
  ...runRoutes,
  ...backfillRoutes,
  ...channelRoutes,
  ...deliveryRoutes,
  ...postRoutes,
  ...linkRoutes,
  ...extensionRoutes,
  ...environmentRoutes,
  ...mcpServerRoutes,
  ...skillPublishRoutes,
  ...skillRoutes,
  ...skillVersionRoutes,
  ...sandboxRoutes,
  ...vaultRoutes,
  ...credentialRoutes,
  ...vaultAssignmentRoutes,
  ...vaultRotationRoutes,
  ...loginSessionRoutes,
  ...tokenRoutes,
  ...connectionRoutes,
  ...userRoutes,
  ...auditRoutes,
  ...configurationRoutes,
  ...streamRoutes,
  ...exportRoutes,
  ...aiMessageRoutes,
  ...aiStreamRoutes,
  ...uploadRoutes,
  ...putContentRoutes,
  ...contentRoutes,
  ...uploadsRoutes,
  ...partRoutes,
  ...archiveRoutes,
  ...loginRoutes,
  ...resourceMetadataRoutes,
  ...triggerRoutes,
  ...callbackRoutes,
  ...mcpRoutes,
  ...openaiRoutes,
  ...a2aRoutes,
  ...probeRoutes,
];
