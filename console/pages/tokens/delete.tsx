import { useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { tokens } from '../../api/tokens.ts';
import type { Token } from '../../gen/index.ts';
import { ActButton } from '../../parts/acts/act-button.tsx';
import { IconButton } from '../../ui/button.tsx';

export function DeleteToken({ token: { token_id: id, name } }: { token: Token }) {
  const queries = useQueryClient();
  return (
    <ActButton
      button={<IconButton label={`Delete ${name}`} icon={<Trash2 />} />}
      title={`Delete ${name}?`}
      action="Delete token"
      run={() => tokens.remove(id)}
      curl={{ method: 'DELETE', path: `/auth/tokens/${id}` }}
      done="The token is deleted."
      onDone={() => void queries.invalidateQueries({ queryKey: ['tokens'] })}
    >
      <p>Nobody gets in with it from this moment on. What was done with it stays.</p>
    </ActButton>
  );
}
