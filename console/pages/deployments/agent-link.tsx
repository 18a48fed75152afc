import type { Deployment } from '../../gen/index.ts';
import { TextLink } from '../../parts/navigation/links.tsx';

/** The agent of a deployment. */
export function AgentLink({
  deployment: { agent_id: agentId, agent_name: name },
}: {
  deployment: Deployment;
}) {
  if (name === null) return <span className="text-muted">The agent is deleted.</span>;
  return (
    <TextLink to="/agents/$agentId" params={{ agentId }} className="min-w-0 wrap-anywhere">
      {name}
    </TextLink>
  );
}
