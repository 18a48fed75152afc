import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useIdempotencyKeys } from '../acts/idempotency-key.ts';
import { changesOf } from './changes.ts';
import { Form } from './form.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import type { Problems } from './problems.ts';
import { SaveBar } from './save-bar.tsx';

export interface NewFormProps<Draft extends object, Body, Made> {
  /** What is made: agent, assistant, environment. */
  noun: string;
  empty: Draft;
  read: (draft: Draft) => { body: Body; problems: Problems };
  create: (body: Body, key: string) => Promise<Made>;
  /** Below /api/v1. */
  path: string;
  onMade: (made: Made) => void;
  children: (draft: Draft, set: (changes: Partial<Draft>) => void, problems: Problems) => ReactNode;
}

/** Makes something new. Sent twice, it is made once. */
export function NewForm<Draft extends object, Body, Made>({
  noun,
  empty,
  read,
  create,
  path,
  onMade,
  children,
}: NewFormProps<Draft, Body, Made>) {
  const [draft, setDraft] = useState(empty);
  const { keyFor } = useIdempotencyKeys();
  const { body, problems: wrong } = read(draft);
  const creating = useMutation({ mutationFn: () => create(body, keyFor(body)), onSuccess: onMade });
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  return (
    <Form
      label={`New ${noun}`}
      wrong={wrong}
      error={creating.error}
      onSubmit={() => {
        if (!creating.isPending) creating.mutate();
      }}
    >
      {(problems) => (
        <>
          {children(draft, set, problems)}
          <SaveBar
            action={`Create ${noun}`}
            says=""
            busy={creating.isPending}
            error={creating.error}
            curl={{ method: 'POST', path, body }}
          />
          <LeaveGuard isDirty={Object.keys(changesOf(empty, draft)).length > 0} />
        </>
      )}
    </Form>
  );
}
