import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { credentials } from '../../api/vaults.ts';
import { newIdempotencyKey } from '../../parts/actions/idempotency-key.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { ValidatedForm } from '../../parts/editor/form.tsx';
import { problemAt } from '../../parts/editor/problems.ts';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { SecretField, takeSecret } from '../../parts/secrets/secret-field.tsx';
import { useSubmission } from '../../parts/secrets/use-submission.ts';
import { Button } from '../../ui/button.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { toast } from '../../ui/toast.tsx';
import { EMPTY_CREDENTIAL_DRAFT, readCredentialDraft, withSecret } from './credential-draft.ts';
import { CredentialFields } from './credential-fields.tsx';
import { type CredentialType, SECRETS, TYPE_OPTIONS } from './labels.ts';

const SECRET_SHOWN = '…';

/** Form that creates a credential. The secret field is emptied with each submission. */
export function CredentialForm({ vaultId, onDone }: { vaultId: string; onDone: () => void }) {
  const [draft, setDraft] = useState(EMPTY_CREDENTIAL_DRAFT);
  const [isSecretMissing, setSecretMissing] = useState(false);
  const secret = useRef<HTMLInputElement>(null);
  const clientSecret = useRef<HTMLInputElement>(null);
  const { submit, isPending, error } = useSubmission();
  const queries = useQueryClient();
  const { body, problems: wrong } = readCredentialDraft(draft);
  const { member, label } = SECRETS[draft.type];
  const onChange = (changes: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...changes }));
  const path = `/admin/vaults/${vaultId}/credentials`;

  async function create(text: string, ofClient: string): Promise<void> {
    await credentials.create(vaultId, withSecret(body, text, ofClient), newIdempotencyKey());
    onDone();
    toast.done('The credential was created.');
    await queries.invalidateQueries({ queryKey: ['vaults'] });
  }
  return (
    <ValidatedForm
      label="New credential"
      localProblems={wrong}
      error={error}
      onSubmit={() => {
        if (isPending) return;
        const text = takeSecret(secret);
        setSecretMissing(text === '');
        if (text === '') secret.current?.focus();
        else {
          const ofClient = takeSecret(clientSecret);
          void submit(() => create(text, ofClient));
        }
      }}
    >
      {(problems) => (
        <div className="flex flex-col gap-4">
          <Field label="Type" hint={TYPE_OPTIONS.find(({ value }) => value === draft.type)?.about}>
            <Select<CredentialType>
              label="Type"
              value={draft.type}
              options={TYPE_OPTIONS}
              onChange={(type) => {
                takeSecret(secret);
                onChange({ type });
              }}
            />
          </Field>
          <Field label="Label" optional error={problemAt(problems, '/label')}>
            <Input value={draft.label} onChange={(event) => onChange({ label: event.target.value })} />
          </Field>
          <CredentialFields draft={draft} onChange={onChange} problems={problems} />
          <SecretField
            label={label}
            input={secret}
            error={problemAt(problems, `/${member}`) ?? (isSecretMissing ? 'Enter the secret.' : undefined)}
          />
          {draft.type === 'oauth2' && (
            <SecretField
              label="Client secret"
              optional
              input={clientSecret}
              error={problemAt(problems, '/client_secret')}
            />
          )}
          <p className="text-[13px] text-muted">
            The type, the destination and the names cannot be changed later.
          </p>
          <ErrorAlert error={error} />
          <DialogActions>
            <CopyCurl method="POST" path={path} body={withSecret(body, SECRET_SHOWN)} />
            <Button type="submit" look="primary" busy={isPending}>
              Create credential
            </Button>
          </DialogActions>
        </div>
      )}
    </ValidatedForm>
  );
}
