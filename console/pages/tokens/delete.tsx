import { useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { tokens } from '../../api/tokens.ts';
import type { Token } from '../../gen/index.ts';
import { DeleteButton } from '../../parts/actions/delete-button.tsx';
import { IconButton } from '../../ui/button.tsx';

export function DeleteToken({ token: { token_id: id, name } }: { token: Token }) {
  const queries = useQueryClient();
  return (
    <DeleteButton
      button={<IconButton label={`Delete ${name}`} icon={<Trash2 />} />}
      noun="token"
      name={name}
      path={`/auth/tokens/${id}`}
      run={() => tokens.remove(id)}
      onDone={() => void queries.invalidateQueries({ queryKey: ['tokens'] })}
    >
      <p>Requests with this token are rejected immediately. Resources created with it are kept.</p>
    </DeleteButton>
  );
}
