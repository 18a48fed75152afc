import type { Tool } from '../tool.ts';
import { agentTools } from './agents.ts';

/** The tools that every endpoint has, in the order of the list. */
export const TOOLS: readonly Tool[] = [...agentTools];
