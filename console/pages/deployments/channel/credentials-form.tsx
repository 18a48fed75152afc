import { useQueryClient } from '@tanstack/react-query';
import { cacheDeployment, deployments } from '../../../api/deployments.ts';
import type { Channel } from '../../../gen/index.ts';
import { ValidatedForm } from '../../../parts/editor/form.tsx';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { useSubmission } from '../../../parts/secrets/use-submission.ts';
import { Button } from '../../../ui/button.tsx';
import { FormSection } from '../../../ui/form-section.tsx';
import { toast } from '../../../ui/toast.tsx';
import { CredentialFields, useCredentialInputs } from './credential-fields.tsx';

const NO_PROBLEMS = {};

/** Sets or replaces credentials. Fields that stay empty keep their value. */
export function CredentialsForm({ channel }: { channel: Channel }) {
  const credentials = useCredentialInputs();
  const { submit, isPending, error } = useSubmission();
  const queries = useQueryClient();
  const isSet = Object.keys(channel.credentials).length > 0;

  async function replace(): Promise<void> {
    const secrets = credentials.take();
    if (Object.keys(secrets).length === 0) return;
    const changed = await deployments.update(channel, channel.revision, { credentials: secrets });
    await cacheDeployment(queries, changed);
    await queries.invalidateQueries({ queryKey: ['deployments', channel.deployment_id, 'setup'] });
    toast.done('The credentials were saved.');
  }
  return (
    <ValidatedForm
      label="Credentials"
      localProblems={NO_PROBLEMS}
      error={error}
      onSubmit={() => void submit(replace)}
    >
      {(problems) => (
        <FormSection
          title="Credentials"
          lead={isSet ? <SetCredentials channel={channel} /> : 'Stored encrypted and never shown again.'}
        >
          <CredentialFields
            provider={channel.provider}
            mode={channel.config.mode}
            inputs={credentials.inputs}
            problems={problems}
            isChange={isSet}
          />
          <ErrorAlert error={error} />
          <div>
            <Button type="submit" busy={isPending}>
              {isSet ? 'Replace credentials' : 'Save credentials'}
            </Button>
          </div>
        </FormSection>
      )}
    </ValidatedForm>
  );
}

function SetCredentials({ channel: { credentials } }: { channel: Channel }) {
  return (
    <ul>
      {Object.entries(credentials).map(([name, { hint }]) => (
        <li key={name}>
          {name.replaceAll('_', ' ')} {hint}
        </li>
      ))}
    </ul>
  );
}
