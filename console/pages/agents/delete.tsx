import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { ActButton } from '../../parts/acts/act-button.tsx';
import { Button } from '../../ui/button.tsx';

export function DeleteAgent({ agent }: { agent: Agent }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { agent_id: agentId } = agent;
  return (
    <ActButton
      button={
        <Button>
          <Trash2 aria-hidden />
          Delete
        </Button>
      }
      title={`Delete ${agent.name}?`}
      action="Delete agent"
      run={() => agents.remove(agentId)}
      curl={{ method: 'DELETE', path: `/agents/${agentId}` }}
      done="The agent is deleted."
      onDone={() => {
        queries.removeQueries({ queryKey: ['agents', agentId] });
        void queries.invalidateQueries({ queryKey: ['agents', 'list'] });
        void queries.invalidateQueries({ queryKey: ['triggers'] });
        void navigate({ to: '/agents', ignoreBlocker: true });
      }}
    >
      <p>
        Nobody begins a conversation with it any more, and its triggers refuse every call. Sessions it has had
        stay readable. There is no way back; to stop it for a while, disable it instead.
      </p>
    </ActButton>
  );
}
