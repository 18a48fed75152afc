import type { Handlers } from '../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { accessHandlers } from './handlers/access.ts';
import { agentHandlers } from './handlers/agents.ts';
import { assistantHandlers } from './handlers/assistants.ts';
import type { HandlerContext } from './handlers/context.ts';
import { environmentHandlers } from './handlers/environments.ts';
import { startHandlers } from './handlers/starts.ts';

export function createHandlers(context: HandlerContext): Handlers<AgentsServiceDefinition> {
  return {
    ...agentHandlers(context),
    ...accessHandlers(context),
    ...assistantHandlers(context),
    ...environmentHandlers(context),
    ...startHandlers(context),
  };
}
