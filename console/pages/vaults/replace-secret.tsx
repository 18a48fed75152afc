import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { credentials } from '../../api/vaults.ts';
import type { Credential } from '../../gen/index.ts';
import { ValidatedForm } from '../../parts/editor/form.tsx';
import { problemAt } from '../../parts/editor/problems.ts';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { SecretField, takeSecret } from '../../parts/secrets/secret-field.tsx';
import { useSubmission } from '../../parts/secrets/use-submission.ts';
import { Button } from '../../ui/button.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { SECRETS } from './labels.ts';

const NO_PROBLEMS = {};

export function ReplaceSecretForm({ credential, onDone }: { credential: Credential; onDone: () => void }) {
  const { vault_id: vaultId, credential_id: id, revision, type } = credential;
  const { member, label } = SECRETS[type];
  const [isMissing, setMissing] = useState(false);
  const secret = useRef<HTMLInputElement>(null);
  const { submit, isPending, error } = useSubmission();
  const queries = useQueryClient();

  async function replace(text: string): Promise<void> {
    await credentials.update(vaultId, id, revision, { [member]: text });
    onDone();
    toast.done('The secret was replaced.');
    await queries.invalidateQueries({ queryKey: ['vaults'] });
  }
  return (
    <ValidatedForm
      label="Replace secret"
      localProblems={NO_PROBLEMS}
      error={error}
      onSubmit={() => {
        if (isPending) return;
        const text = takeSecret(secret);
        setMissing(text === '');
        if (text === '') secret.current?.focus();
        else void submit(() => replace(text));
      }}
    >
      {(problems) => (
        <>
          <SecretField
            label={label}
            input={secret}
            error={problemAt(problems, `/${member}`) ?? (isMissing ? 'Enter the secret.' : undefined)}
          />
          <ErrorAlert error={error} />
          <DialogActions>
            <Button type="submit" look="primary" busy={isPending}>
              Replace secret
            </Button>
          </DialogActions>
        </>
      )}
    </ValidatedForm>
  );
}
