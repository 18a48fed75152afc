import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/toast.tsx';
import type { ShownField } from '../diff/fields.ts';
import { changesOf } from './changes.ts';
import type { Editing } from './editing.ts';
import { Form } from './form.tsx';
import type { Problems } from './problems.ts';
import { SaveBar } from './save-bar.tsx';
import { Stale } from './stale.tsx';

export interface EditFormProps<Source, Draft extends object, Body extends object> {
  /** What it is: agent, assistant, environment. */
  noun: string;
  editing: Editing<Source, Draft>;
  /** As it is now. */
  newest: Source;
  draftOf: (source: Source) => Draft;
  read: (draft: Draft) => { body: Body; problems: Problems };
  shown: (body: Body) => ShownField[];
  /** Of the form; otherwise that these are the settings of it. */
  label?: string;
  /** Sends what has changed, or all of it. */
  save: (changes: Partial<Body>, whole: Body) => Promise<Source>;
  /** All of it is sent. */
  isWhole?: boolean;
  /** Below /api/v1. */
  path: string;
  /** The version that is changed; absent where there are none. */
  version?: number;
  /** The query that knows it: first of all such things, then of this one. */
  queryKey: QueryKey;
  children: (problems: Problems) => ReactNode;
}

/** Changes something that is there already: sends what is different, and nothing over what others have done. */
export function EditForm<Source, Draft extends object, Body extends object>({
  noun,
  editing,
  newest,
  draftOf,
  read,
  shown,
  label = `Settings of the ${noun}`,
  save,
  isWhole = false,
  path,
  version,
  queryKey,
  children,
}: EditFormProps<Source, Draft, Body>) {
  const { body, problems: wrong } = read(editing.draft);
  const changes = changesOf(read(draftOf(editing.base)).body, body);
  const queries = useQueryClient();
  const saving = useMutation({
    mutationFn: () => save(changes, body),
    onSuccess: (saved) => {
      editing.accept(saved);
      queries.setQueryData(queryKey, saved);
      void queries.invalidateQueries({ queryKey: queryKey.slice(0, 1) });
      toast.done('Saved.');
    },
    onError: (error) => {
      if (error instanceof ApiError && error.status === 412)
        void queries.invalidateQueries({ queryKey: queryKey.slice(0, 2) });
    },
  });
  const discard = () => {
    saving.reset();
    editing.reload();
  };
  return (
    <Form
      label={label}
      wrong={wrong}
      error={saving.error}
      onSubmit={() => {
        if (editing.isDirty && !saving.isPending) saving.mutate();
      }}
    >
      {(problems) => (
        <>
          {children(problems)}
          {(editing.isDirty || saving.error) && (
            <SaveBar
              action="Save"
              says={editing.isDirty ? 'There are changes that are not saved.' : ''}
              busy={saving.isPending}
              error={saving.error}
              curl={
                isWhole
                  ? { method: 'PUT', path, version, body }
                  : { method: 'PATCH', path, version, body: changes }
              }
              notice={
                editing.isStale && (
                  <Stale
                    noun={noun}
                    theirs={shown(read(draftOf(newest)).body)}
                    mine={shown(read(editing.rebased).body)}
                    onReload={discard}
                    onKeep={() => {
                      saving.reset();
                      editing.rebase();
                    }}
                  />
                )
              }
            >
              {!editing.isStale && <Button onClick={discard}>Discard</Button>}
            </SaveBar>
          )}
        </>
      )}
    </Form>
  );
}
