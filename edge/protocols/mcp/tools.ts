import type { Tool } from './tool.ts';
import { agentTools } from './tools/agents.ts';
import { approvalTools } from './tools/approvals.ts';
import { conversationTools } from './tools/conversations.ts';
import { fileTools } from './tools/files.ts';
import { journalTools } from './tools/journal.ts';
import { sessionTools } from './tools/sessions.ts';

/** The tools that every endpoint has besides those of agents, in the order of the list. */
export const TOOLS: readonly Tool[] = [
  ...agentTools,
  ...conversationTools,
  ...sessionTools,
  ...journalTools,
  ...approvalTools,
  ...fileTools,
];
