import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { DeleteButton, type DeleteButtonProps } from '../actions/delete-button.tsx';
import { collectionOf, type ResourceNoun } from './noun.ts';

export interface DeleteResourceProps extends Omit<DeleteButtonProps, 'button'> {
  noun: ResourceNoun;
  id: string;
}

/** Deletes the resource of a page and navigates to the list. */
export function DeleteResource({ id, onDone, ...deletion }: DeleteResourceProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const collection = collectionOf(deletion.noun);
  return (
    <DeleteButton
      {...deletion}
      onDone={() => {
        queries.removeQueries({ queryKey: [collection, id] });
        void queries.invalidateQueries({ queryKey: [collection, 'list'] });
        void navigate({ to: `/${collection}`, ignoreBlocker: true });
        onDone?.();
      }}
    />
  );
}
