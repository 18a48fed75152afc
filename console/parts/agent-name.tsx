import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { agents } from '../api/agents.ts';
import { assistants } from '../api/assistants.ts';
import type { Session } from '../gen/index.ts';
import { TextLink } from './links.tsx';

/** Names hardly ever change. */
const KNOWN_MS = 60_000;

/**
 * The name of an agent; its id when it cannot be had, undefined as long as it is asked for. One that is not among the
 * newest is asked for alone.
 */
export function useAgentName(agentId: string | null | undefined): string | undefined {
  const { data, isPending } = useNewestAgents();
  const newest = data?.pages[0]?.items.find(({ agent_id: id }) => id === agentId)?.name;
  const asked = useQuery({
    ...agents.one(agentId ?? ''),
    enabled: Boolean(agentId) && !isPending && newest === undefined,
    staleTime: KNOWN_MS,
  });
  return newest ?? asked.data?.name ?? (asked.isError && agentId ? agentId : undefined);
}

/** Where many names are wanted they are asked for at once, together with what they belong to. */
export const useNewestAgents = () => useInfiniteQuery({ ...agents.list(), staleTime: KNOWN_MS });

/** Who works in a session, as a link. One whose name cannot be had any more is an id. */
export function AgentOf({ session }: { session: Session }) {
  const { agent_id: agentId, assistant_id: assistantId } = session;
  return assistantId ? (
    <AssistantLink assistantId={assistantId} />
  ) : (
    agentId && <AgentLink agentId={agentId} />
  );
}

const CUT = 'block truncate font-normal';

function AgentLink({ agentId }: { agentId: string }) {
  const name = useAgentName(agentId);
  return (
    <TextLink to="/agents/$agentId" params={{ agentId }} dir="auto" title={name} className={CUT}>
      {name ?? 'Agent'}
    </TextLink>
  );
}

function AssistantLink({ assistantId }: { assistantId: string }) {
  const { data, isError } = useQuery({ ...assistants.one(assistantId), staleTime: KNOWN_MS });
  const name = data?.name ?? (isError ? assistantId : undefined);
  return (
    <TextLink to="/assistants/$assistantId" params={{ assistantId }} dir="auto" title={name} className={CUT}>
      {name ?? 'Assistant'}
    </TextLink>
  );
}
