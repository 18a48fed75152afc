import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { tokens } from '../../api/tokens.ts';
import { useIdempotencyKeys } from '../../parts/acts/idempotency-key.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { Form } from '../../parts/editor/form.tsx';
import { type Problems, problemAt } from '../../parts/editor/problems.ts';
import { Problem } from '../../parts/faults/failure.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { LIFETIMES, type Lifetime, SCOPES, type Scope } from './scopes.ts';

const LOST = 'The token was created, but its value has not arrived. Delete it, and create another one.';

/** What a token is made for. Its value is handed on, and kept nowhere: no cache of requests sees it. */
export function TokenForm({ onMade }: { onMade: (value: string) => void }) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(['read']);
  const [lifetime, setLifetime] = useState<Lifetime>('90');
  const { mutate, isPending, error, data } = useCreation(onMade);
  const { isAdministrator } = useViewer();
  const body = {
    name: name.trim(),
    scopes: [...chosen],
    ...(lifetime === 'never' ? {} : { expires_in_days: Number(lifetime) }),
  };
  const wrong: Problems = {};
  if (body.name === '') wrong['/name'] = 'Give it a name.';
  if (chosen.length === 0) wrong['/scopes'] = 'Choose one scope at least.';
  return (
    <Form
      label="New token"
      wrong={wrong}
      error={error}
      onSubmit={() => {
        if (!isPending) mutate(body);
      }}
    >
      {(problems) => (
        <div className="flex flex-col gap-4">
          <Field
            label="Name"
            hint="What uses it, for you to know it by."
            error={problemAt(problems, '/name')}
          >
            <Input value={name} onChange={(event) => setName(event.target.value)} />
          </Field>
          <fieldset aria-describedby="scopes" className="flex flex-col gap-2">
            <legend className="mb-1 font-medium">Scopes</legend>
            {SCOPES.filter(({ administrators }) => isAdministrator || !administrators).map(
              ({ scope, about }) => (
                <Checkbox
                  key={scope}
                  checked={chosen.includes(scope)}
                  onChange={(checked) =>
                    setChosen(checked ? [...chosen, scope] : chosen.filter((one) => one !== scope))
                  }
                >
                  <code className="font-mono text-[13px]">{scope}</code>{' '}
                  <span className="text-[13px] text-muted">{about}</span>
                </Checkbox>
              ),
            )}
            {problemAt(problems, '/scopes') && (
              <p id="scopes" role="alert" className="text-[13px] text-bad">
                {problemAt(problems, '/scopes')}
              </p>
            )}
          </fieldset>
          <Field label="Expires after" error={problemAt(problems, '/expires_in_days')}>
            <Select label="Expires after" value={lifetime} options={LIFETIMES} onChange={setLifetime} />
          </Field>
          <Problem error={error} />
          {data?.isLost && (
            <p role="alert" className="text-bad">
              {LOST}
            </p>
          )}
          <DialogActions>
            <CopyCurl method="POST" path="/auth/tokens" body={body} />
            <Button type="submit" look="primary" busy={isPending}>
              Create token
            </Button>
          </DialogActions>
        </div>
      )}
    </Form>
  );
}

/** What comes of it is told nobody but `onMade`: the mutation knows only whether the value was lost on its way. */
function useCreation(onMade: (value: string) => void) {
  const queries = useQueryClient();
  const { keyFor, renew } = useIdempotencyKeys();
  return useMutation({
    gcTime: 0,
    mutationFn: async (body: Parameters<typeof tokens.create>[0]): Promise<{ isLost: boolean }> => {
      const { value } = await tokens.create(body, keyFor(body));
      renew();
      if (value !== null) onMade(value);
      return { isLost: value === null };
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['tokens'] }),
  });
}
