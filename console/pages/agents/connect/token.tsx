import { useState } from 'react';
import { ValidatedForm } from '../../../parts/editor/form.tsx';
import { type FieldProblems, problemAt } from '../../../parts/editor/problems.ts';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { expiryOf, LIFETIMES, type Lifetime } from '../../../parts/tokens/lifetimes.ts';
import { useCreateToken, VALUE_LOST } from '../../../parts/tokens/use-create-token.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { FormSection } from '../../../ui/form-section.tsx';
import { Select } from '../../../ui/select.tsx';

export interface TokenSectionProps {
  /** A new token is shown in the texts for clients. */
  isShown: boolean;
  /** Receives the value of a new token, and undefined when it is no longer shown. */
  onToken: (value: string | undefined) => void;
}

/** Creates a personal access token for clients and shows it in the texts for clients, once. */
export function TokenSection({ isShown, onToken }: TokenSectionProps) {
  return (
    <FormSection
      title="Token"
      lead={
        <>
          A client acts with your permissions. Its token opens no other part of the API. MCP clients that
          support OAuth can log in without a token, if an administrator has enabled this.
        </>
      }
    >
      {isShown ? (
        <div className="flex flex-col items-start gap-3 rounded-lg border border-warn bg-warn-soft px-3 py-2">
          {/* The button that created the token is gone, so the focus moves here and the text is announced. */}
          <p ref={focus} tabIndex={-1} className="outline-none">
            The texts below contain the new token. It is shown only once.
          </p>
          <Button onClick={() => onToken(undefined)}>I have stored the token</Button>
        </div>
      ) : (
        <TokenForm onCreated={onToken} />
      )}
    </FormSection>
  );
}

const focus = (element: HTMLElement | null) => element?.focus();

function TokenForm({ onCreated }: { onCreated: (value: string) => void }) {
  const [name, setName] = useState('Client');
  const [approves, setApproves] = useState(false);
  const [lifetime, setLifetime] = useState<Lifetime>('90');
  const { mutate, isPending, error, data } = useCreateToken(onCreated);
  const scopes: ('mcp' | 'approve')[] = approves ? ['mcp', 'approve'] : ['mcp'];
  const body = { name: name.trim(), scopes, ...expiryOf(lifetime) };
  const wrong: FieldProblems = body.name === '' ? { '/name': 'Enter a name.' } : {};
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
          <div className="flex flex-wrap gap-4">
            <div className="min-w-0 flex-1 basis-56">
              <Field
                label="Name"
                hint="Sessions that the client creates show it."
                error={problemAt(problems, '/name')}
              >
                <Input value={name} onChange={(event) => setName(event.target.value)} />
              </Field>
            </div>
            <Field label="Expires after" error={problemAt(problems, '/expires_in_days')}>
              <Select label="Expires after" value={lifetime} options={LIFETIMES} onChange={setLifetime} />
            </Field>
          </div>
          <Checkbox checked={approves} onChange={setApproves}>
            Decide approvals in the client{' '}
            <span className="text-[13px] text-muted">
              The model that uses the client can then approve its own actions. Otherwise, approvals are
              decided in the console.
            </span>
          </Checkbox>
          <ErrorAlert error={error} />
          {data?.isLost && (
            <p role="alert" className="text-bad">
              {VALUE_LOST}
            </p>
          )}
          <div>
            <Button type="submit" look="primary" busy={isPending}>
              Create token
            </Button>
          </div>
        </div>
      )}
    </ValidatedForm>
  );
}
