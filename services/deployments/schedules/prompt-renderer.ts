import type { CallOptions, Client } from '../../../lib/grpc/contract.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { promptValues } from '../domain/schedules/prompt-values.ts';
import { renderPrompt } from '../domain/schedules/template.ts';
import type { ClaimedRun } from '../store/run-queue.ts';
import type { RunStateStore } from '../store/run-states.ts';

interface PromptRendererContext {
  agents: Pick<Client<AgentsServiceDefinition>, 'lookUpAgents'>;
  states: Pick<RunStateStore, 'previous'>;
}

export type PromptRenderer = ReturnType<typeof createPromptRenderer>;

/** Replaces the placeholders of prompts. Values that a prompt does not use are not read. */
export function createPromptRenderer({ agents, states }: PromptRendererContext) {
  async function agentNameOf({ agentId }: ClaimedRun, options: CallOptions): Promise<string> {
    const found = await agents.lookUpAgents({ agentIds: [agentId], nameContains: '' }, options);
    return found.agents[0]?.name ?? '';
  }

  return {
    /** Returns the first message of the run. */
    async render(run: ClaimedRun, options: CallOptions): Promise<string> {
      const { prompt, runId, deploymentId, createdAt, scheduledFor, timezone, number, name } = run;
      if (!prompt.includes('{{')) return prompt;
      const previousRun = prompt.includes('previous_run')
        ? await states.previous(deploymentId, runId, { trace: options.trace })
        : undefined;
      const agentName = prompt.includes('agent_name') ? await agentNameOf(run, options) : '';
      const values = promptValues({
        scheduledFor: scheduledFor ?? createdAt,
        timezone,
        runId,
        runNumber: number,
        previousRun,
        agentName,
        name,
      });
      return renderPrompt(prompt, values);
    },
  };
}
