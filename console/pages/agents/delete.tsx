import { useQueryClient } from '@tanstack/react-query';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { DeleteThing } from '../../parts/editor/delete-thing.tsx';

export function DeleteAgent({ agent: { agent_id: id, name } }: { agent: Agent }) {
  const queries = useQueryClient();
  return (
    <DeleteThing
      noun="agent"
      id={id}
      name={name}
      path={`/agents/${id}`}
      run={() => agents.remove(id)}
      onDone={() => void queries.invalidateQueries({ queryKey: ['triggers'] })}
    >
      <p>
        Nobody begins a conversation with it any more, and its triggers refuse every call. Sessions it has had
        stay readable. There is no way back; to stop it for a while, disable it instead.
      </p>
    </DeleteThing>
  );
}
