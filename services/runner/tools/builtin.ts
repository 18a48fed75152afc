import type { Clock } from '../../../lib/clock.ts';
import { TOOLS, type ToolName } from '../../../lib/tools.ts';
import { calculator } from './calculator.ts';
import { createCurrentTime } from './current-time.ts';
import { createTools, type Tool, type Tools } from './tool.ts';

/** The tools that every runner has: each of the table, and no other. */
export function builtInTools(clock: Clock): Tools {
  const tools: Record<ToolName, Omit<Tool, 'name' | 'kind'>> = {
    current_time: createCurrentTime(clock),
    calculator,
  };
  const named = (name: ToolName): Tool => ({ ...tools[name], name, kind: TOOLS[name] });
  return createTools(...(Object.keys(TOOLS) as ToolName[]).map(named));
}
