import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { agents } from '../../api/agents.ts';
import { assistants } from '../../api/assistants.ts';
import type { Session } from '../../gen/index.ts';
import { TextLink } from '../navigation/links.tsx';

/** Names rarely change. */
const NAME_STALE_MS = 60_000;

/**
 * Returns the name of an agent: undefined while it loads, the id when it cannot be loaded. An agent that is not among the
 * newest agents is requested individually.
 */
export function useAgentName(agentId: string | null | undefined): string | undefined {
  const { data, isPending } = useNewestAgents();
  const newest = data?.pages[0]?.items.find(({ agent_id: id }) => id === agentId)?.name;
  const single = useQuery({
    ...agents.detail(agentId ?? ''),
    enabled: Boolean(agentId) && !isPending && newest === undefined,
    staleTime: NAME_STALE_MS,
  });
  return newest ?? single.data?.name ?? (single.isError && agentId ? agentId : undefined);
}

/** The newest agents. Lists prefetch them so that all names load with one request. */
export const useNewestAgents = () => useInfiniteQuery({ ...agents.list(), staleTime: NAME_STALE_MS });

/** Link to the agent or assistant of a session. Its text is the id when the name cannot be loaded. */
export function SessionAgentLink({ session }: { session: Session }) {
  const { agent_id: agentId, assistant_id: assistantId } = session;
  return assistantId ? (
    <AssistantLink assistantId={assistantId} />
  ) : (
    agentId && <AgentLink agentId={agentId} />
  );
}

const TRUNCATED = 'block truncate font-normal';

function AgentLink({ agentId }: { agentId: string }) {
  const name = useAgentName(agentId);
  return (
    <TextLink to="/agents/$agentId" params={{ agentId }} dir="auto" title={name} className={TRUNCATED}>
      {name ?? 'Agent'}
    </TextLink>
  );
}

function AssistantLink({ assistantId }: { assistantId: string }) {
  const { data, isError } = useQuery({ ...assistants.detail(assistantId), staleTime: NAME_STALE_MS });
  const name = data?.name ?? (isError ? assistantId : undefined);
  return (
    <TextLink
      to="/assistants/$assistantId"
      params={{ assistantId }}
      dir="auto"
      title={name}
      className={TRUNCATED}
    >
      {name ?? 'Assistant'}
    </TextLink>
  );
}
