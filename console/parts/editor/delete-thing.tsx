import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { DeleteButton, type DeleteButtonProps } from '../acts/delete-button.tsx';
import { type Noun, pluralOf } from './noun.ts';

export interface DeleteThingProps extends Omit<DeleteButtonProps, 'button'> {
  noun: Noun;
  id: string;
}

/** Deletes what a page is about, and leads to those that are left. */
export function DeleteThing({ id, onDone, ...deletion }: DeleteThingProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const all = pluralOf(deletion.noun);
  return (
    <DeleteButton
      {...deletion}
      onDone={() => {
        queries.removeQueries({ queryKey: [all, id] });
        void queries.invalidateQueries({ queryKey: [all, 'list'] });
        void navigate({ to: `/${all}`, ignoreBlocker: true });
        onDone?.();
      }}
    />
  );
}
