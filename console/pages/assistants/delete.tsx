import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { assistants } from '../../api/assistants.ts';
import type { Assistant } from '../../gen/index.ts';
import { ActButton } from '../../parts/acts/act-button.tsx';
import { Button } from '../../ui/button.tsx';

export function DeleteAssistant({ assistant: { assistant_id: id, name } }: { assistant: Assistant }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <ActButton
      button={
        <Button>
          <Trash2 aria-hidden />
          Delete
        </Button>
      }
      title={`Delete ${name}?`}
      action="Delete assistant"
      run={() => assistants.remove(id)}
      curl={{ method: 'DELETE', path: `/assistants/${id}` }}
      done="The assistant is deleted."
      onDone={() => {
        queries.removeQueries({ queryKey: ['assistants', id] });
        void queries.invalidateQueries({ queryKey: ['assistants', 'list'] });
        void navigate({ to: '/assistants', ignoreBlocker: true });
      }}
    >
      <p>
        Its workspace goes with all the files in it, and it starts nothing any more. What was said in its
        sessions stays readable. There is no way back; to stop it for a while, disable it instead.
      </p>
    </ActButton>
  );
}
