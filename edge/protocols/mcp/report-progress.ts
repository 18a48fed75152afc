import type { ServerContext } from '@modelcontextprotocol/server';
import type { ProgressReporter } from './progress.ts';

/** Undefined unless the client has sent a progress token. */
export function createProgressReporter({ mcpReq }: ServerContext): ProgressReporter | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return async (message) => {
    progress++;
    try {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } });
    } catch {
      // The client has disconnected. The call ends through its own signal.
    }
  };
}
