import { sha256 } from '../../../lib/digest.ts';
import type { ToolCall } from '../tools/tool.ts';

/** Names a change for all times: the call that makes it, and which of its changes it is. Ids of calls can be long. */
export function keyOf({ turn, toolUseId }: Pick<ToolCall, 'turn' | 'toolUseId'>, part = 0): string {
  return `${turn.lease.turnId} ${sha256(toolUseId)} ${part}`;
}
