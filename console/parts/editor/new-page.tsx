import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type NavigateOptions, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Page } from '../../ui/page.tsx';
import { useIdempotencyKeys } from '../acts/idempotency-key.ts';
import { TextLink } from '../links.tsx';
import { changesOf } from './changes.ts';
import { Form } from './form.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { capitalised, type Noun, pluralOf } from './noun.ts';
import type { Problems } from './problems.ts';
import { SaveBar } from './save-bar.tsx';

export interface NewPageProps<Draft extends object, Body, Made> {
  noun: Noun;
  empty: Draft;
  read: (draft: Draft) => { body: Body; problems: Problems };
  create: (body: Body, key: string) => Promise<Made>;
  /** Below /api/v1. */
  path: string;
  /** The page of what was made, made with `linkOptions`. */
  pageOf: (made: Made) => Pick<NavigateOptions, 'to' | 'params'>;
  children: (form: {
    draft: Draft;
    onChange: (changes: Partial<Draft>) => void;
    problems: Problems;
  }) => ReactNode;
}

/** A form that makes something new, once however often it is sent, and leads to it. */
export function NewPage<Draft extends object, Body, Made>(props: NewPageProps<Draft, Body, Made>) {
  const { noun, empty, read, create, path, pageOf, children } = props;
  const [draft, setDraft] = useState(empty);
  const { keyFor } = useIdempotencyKeys();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { body, problems: wrong } = read(draft);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => create(body, keyFor(body)),
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: [pluralOf(noun), 'list'] });
      // Back leads to where one came from, and not to a form that has been sent.
      void navigate({ ...pageOf(made), replace: true, ignoreBlocker: true });
    },
  });
  const onChange = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  const all = <TextLink to={`/${pluralOf(noun)}`}>{capitalised(pluralOf(noun))}</TextLink>;
  return (
    <Page title={`New ${noun}`} above={all}>
      <Form
        label={`New ${noun}`}
        wrong={wrong}
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
              says=""
              busy={isPending}
              error={error}
              curl={{ method: 'POST', path, body }}
            />
          </>
        )}
      </Form>
      <LeaveGuard isDirty={Object.keys(changesOf(empty, draft)).length > 0} />
    </Page>
  );
}
