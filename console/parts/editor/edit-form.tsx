import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/toast.tsx';
import type { DisplayedField } from '../diff/fields.ts';
import { changesOf } from './changes.ts';
import { ValidatedForm } from './form.tsx';
import type { FieldProblems } from './problems.ts';
import { SaveBar } from './save-bar.tsx';
import { StaleNotice } from './stale-notice.tsx';
import type { EditorState } from './use-editor.ts';

export interface EditFormProps<Source, Draft extends object, Body extends object> {
  /** Kind of the resource: agent, assistant, environment. */
  noun: string;
  editing: EditorState<Source, Draft>;
  /** The current version of the resource. */
  newest: Source;
  draftOf: (source: Source) => Draft;
  read: (draft: Draft) => { body: Body; problems: FieldProblems };
  shown: (body: Body) => DisplayedField[];
  /** Accessible name of the form. */
  label?: string;
  /** Saves the changes; `whole` is the complete body. */
  save: (changes: Partial<Body>, whole: Body) => Promise<Source>;
  /** The curl command replaces the whole resource (PUT) instead of patching it. */
  isWhole?: boolean;
  /** API path below /api/v1. */
  path: string;
  /** The edited revision, sent as If-Match. */
  revision: number;
  /** Query key of the resource: the collection, then the resource. */
  queryKey: QueryKey;
  children: (problems: FieldProblems) => ReactNode;
}

/** Form that edits an existing resource. It sends only the changed fields and never overwrites changes of other users. */
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
  revision,
  queryKey,
  children,
}: EditFormProps<Source, Draft, Body>) {
  const { body, problems: wrong } = read(editing.draft);
  const changes = changesOf(read(draftOf(editing.base)).body, body);
  const queries = useQueryClient();
  const saving = useMutation({
    // The variable is the draft that is saved. The user may go on typing meanwhile.
    mutationFn: (_sent: Draft) => save(changes, body),
    onSuccess: (saved, sent) => {
      editing.accept(saved, sent);
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
    <ValidatedForm
      label={label}
      localProblems={wrong}
      error={saving.error}
      onSubmit={() => {
        if (editing.isDirty && !saving.isPending) saving.mutate(editing.draft);
      }}
    >
      {(problems) => (
        <>
          {children(problems)}
          {(editing.isDirty || saving.error) && (
            <SaveBar
              action="Save"
              status={editing.isDirty ? 'Unsaved changes' : ''}
              busy={saving.isPending}
              error={saving.error}
              curl={
                isWhole
                  ? { method: 'PUT', path, revision, body }
                  : { method: 'PATCH', path, revision, body: changes }
              }
              notice={
                editing.isStale && (
                  <StaleNotice
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
    </ValidatedForm>
  );
}
