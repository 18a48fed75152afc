import { useState } from 'react';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { ValidatedForm } from '../../parts/editor/form.tsx';
import { type FieldProblems, problemAt } from '../../parts/editor/problems.ts';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { expiryOf, LIFETIMES, type Lifetime } from '../../parts/tokens/lifetimes.ts';
import { useCreateToken, VALUE_LOST } from '../../parts/tokens/use-create-token.ts';
import { useViewer } from '../../parts/users/viewer.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { SCOPE_OPTIONS, type TokenScope } from './scopes.ts';

/** Form that creates a token. It passes the value to `onCreated` and never stores it in a query or mutation cache. */
export function TokenForm({ onCreated }: { onCreated: (value: string) => void }) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly TokenScope[]>(['read']);
  const [lifetime, setLifetime] = useState<Lifetime>('90');
  const { mutate, isPending, error, data } = useCreateToken(onCreated);
  const { isAdministrator } = useViewer();
  const body = {
    name: name.trim(),
    scopes: [...chosen],
    ...expiryOf(lifetime),
  };
  const wrong: FieldProblems = {};
  if (body.name === '') wrong['/name'] = 'Enter a name.';
  if (chosen.length === 0) wrong['/scopes'] = 'Select at least one scope.';
  return (
    <ValidatedForm
      label="New token"
      localProblems={wrong}
      error={error}
      onSubmit={() => {
        if (!isPending) mutate(body);
      }}
    >
      {(problems) => (
        <div className="flex flex-col gap-4">
          <Field
            label="Name"
            hint="For example, the program that uses the token."
            error={problemAt(problems, '/name')}
          >
            <Input value={name} onChange={(event) => setName(event.target.value)} />
          </Field>
          <fieldset aria-describedby="scopes" className="flex flex-col gap-2">
            <legend className="mb-1 font-medium">Scopes</legend>
            {SCOPE_OPTIONS.filter(({ administrators }) => isAdministrator || !administrators).map(
              ({ scope, about }) => (
                <Checkbox
                  key={scope}
                  checked={chosen.includes(scope)}
                  onChange={(checked) =>
                    setChosen(checked ? [...chosen, scope] : chosen.filter((other) => other !== scope))
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
          <ErrorAlert error={error} />
          {data?.isLost && (
            <p role="alert" className="text-bad">
              {VALUE_LOST}
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
    </ValidatedForm>
  );
}
