import { useRef, useState } from 'react';
import { connections } from '../../api/connections.ts';
import { Button } from '../../ui/button.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { ValidatedForm } from '../editor/form.tsx';
import { problemAt } from '../editor/problems.ts';
import { ErrorAlert } from '../errors/error-state.tsx';
import { SecretField, takeSecret } from '../secrets/secret-field.tsx';
import { useSubmission } from '../secrets/use-submission.ts';

export interface TokenFormProps {
  mcpServerId: string;
  onConnected: () => void;
}

const NO_PROBLEMS = {};

/** Connects with a token. The field is emptied on submit. */
export function TokenForm({ mcpServerId, onConnected }: TokenFormProps) {
  const [isMissing, setMissing] = useState(false);
  const token = useRef<HTMLInputElement>(null);
  const { submit, isPending, error } = useSubmission();

  async function connect(text: string): Promise<void> {
    await connections.connect(mcpServerId, text);
    onConnected();
  }
  return (
    <ValidatedForm
      label="Connect with a token"
      localProblems={NO_PROBLEMS}
      error={error}
      onSubmit={() => {
        if (isPending) return;
        const text = takeSecret(token);
        setMissing(text === '');
        if (text === '') token.current?.focus();
        else void submit(() => connect(text));
      }}
    >
      {(problems) => (
        <>
          <SecretField
            label="Token"
            input={token}
            error={problemAt(problems, '/token') ?? (isMissing ? 'Enter the token.' : undefined)}
          />
          <ErrorAlert error={error} />
          <DialogActions>
            <Button type="submit" look="primary" busy={isPending}>
              Connect
            </Button>
          </DialogActions>
        </>
      )}
    </ValidatedForm>
  );
}
