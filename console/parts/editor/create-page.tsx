import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type NavigateOptions, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Page } from '../../ui/page.tsx';
import { useIdempotencyKeys } from '../actions/idempotency-key.ts';
import { TextLink } from '../navigation/links.tsx';
import { changesOf } from './changes.ts';
import { ValidatedForm } from './form.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { capitalize, collectionOf, pluralOf, type ResourceNoun } from './noun.ts';
import type { FieldProblems } from './problems.ts';
import { SaveBar } from './save-bar.tsx';

export interface CreatePageProps<Draft extends object, Body, Created> {
  noun: ResourceNoun;
  empty: Draft;
  read: (draft: Draft) => { body: Body; problems: FieldProblems };
  create: (body: Body, key: string, onChange: (changes: Partial<Draft>) => void) => Promise<Created>;
  /** API path below /api/v1. */
  path: string;
  /** Link to the page of the created resource. */
  pageOf: (created: Created) => Pick<NavigateOptions, 'to' | 'params'>;
  children: (form: {
    draft: Draft;
    onChange: (changes: Partial<Draft>) => void;
    problems: FieldProblems;
  }) => ReactNode;
}

/** Form that creates a resource and opens its page. Repeated submissions create one resource. */
export function CreatePage<Draft extends object, Body, Created>(
  props: CreatePageProps<Draft, Body, Created>,
) {
  const { noun, empty, read, create, path, pageOf, children } = props;
  const [draft, setDraft] = useState(empty);
  const { keyFor } = useIdempotencyKeys();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { body, problems: wrong } = read(draft);
  const onChange = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => create(body, keyFor(body), onChange),
    onSuccess: (created) => {
      void queries.invalidateQueries({ queryKey: [collectionOf(noun), 'list'] });
      // The Back button skips the submitted form.
      void navigate({ ...pageOf(created), replace: true, ignoreBlocker: true });
    },
  });
  const parent = <TextLink to={`/${collectionOf(noun)}`}>{capitalize(pluralOf(noun))}</TextLink>;
  return (
    <Page title={`New ${noun}`} above={parent}>
      <ValidatedForm
        label={`New ${noun}`}
        localProblems={wrong}
        error={error}
        onSubmit={() => {
          if (!isPending) mutate();
        }}
      >
        {(problems) => (
          <>
            {children({ draft, onChange, problems })}
            <SaveBar
              action={`Create ${noun}`}
              status=""
              busy={isPending}
              error={error}
              curl={{ method: 'POST', path, body }}
            />
          </>
        )}
      </ValidatedForm>
      <LeaveGuard isDirty={Object.keys(changesOf(empty, draft)).length > 0} />
    </Page>
  );
}
