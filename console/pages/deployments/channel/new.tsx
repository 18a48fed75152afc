import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { agents } from '../../../api/agents.ts';
import { deployments } from '../../../api/deployments.ts';
import type { Agent, Channel } from '../../../gen/index.ts';
import { newIdempotencyKey } from '../../../parts/actions/idempotency-key.ts';
import { AgentPicker } from '../../../parts/agents/agent-picker.tsx';
import { changesOf } from '../../../parts/editor/changes.ts';
import { ValidatedForm } from '../../../parts/editor/form.tsx';
import { LeaveGuard } from '../../../parts/editor/leave-guard.tsx';
import { SaveBar } from '../../../parts/editor/save-bar.tsx';
import { useSubmission } from '../../../parts/secrets/use-submission.ts';
import { Field } from '../../../ui/field.tsx';
import { FormSection } from '../../../ui/form-section.tsx';
import { RadioOptions } from '../../../ui/radio-options.tsx';
import { requests } from '../requests.ts';
import { CredentialFields, useCredentialInputs } from './credential-fields.tsx';
import { emptyChannelDraft, readChannelDraft } from './draft.ts';
import { ChannelFields, ConnectionFields } from './fields.tsx';
import { PROVIDERS } from './labels.ts';
import { RevealChannelSecret } from './reveal-secret.tsx';

const route = getRouteApi('/deployments/new');

/** The form of a new channel. It opens the setup of the created channel. */
export function NewChannel() {
  const { agent: agentId = '' } = route.useSearch();
  const named = useQuery({ ...agents.detail(agentId), enabled: agentId !== '' });
  const [picked, setPicked] = useState<Agent | null>();
  const agent = picked === undefined && named.data?.access === 'manage' ? named.data : (picked ?? null);
  const [provider, setProvider] = useState<Channel['provider']>('slack');
  const [draft, setDraft] = useState(() => emptyChannelDraft('slack'));
  const [key] = useState(newIdempotencyKey);
  const credentials = useCredentialInputs();
  const { submit, isPending, error } = useSubmission();
  const { created, show, leave } = useCreatedChannel();
  const { body, problems: wrong } = readChannelDraft(draft);
  const props = {
    provider,
    draft,
    onChange: (changes: Partial<typeof draft>) => setDraft((before) => ({ ...before, ...changes })),
  };
  const create = (id: string) =>
    submit(async () => {
      const secrets = credentials.take();
      show(await deployments.createChannel(id, { provider, ...body, credentials: secrets }, key));
    });
  return (
    <>
      <ValidatedForm
        label="New channel"
        localProblems={agent ? wrong : { ...wrong, '/agent': 'Select an agent.' }}
        error={error}
        onSubmit={() => {
          if (agent) void create(agent.agent_id);
        }}
      >
        {(problems) => (
          <>
            <FormSection title="Product">
              <RadioOptions
                label="Product"
                value={provider}
                options={PROVIDERS}
                onChange={(chosen) => {
                  setProvider(chosen);
                  setDraft((before) => ({ ...before, mode: emptyChannelDraft(chosen).mode }));
                }}
              />
            </FormSection>
            <FormSection title="Connection" lead="The next page shows the steps at the product.">
              <Field
                label="Agent"
                hint="The list contains only agents that you manage."
                error={problems['/agent']}
              >
                <AgentPicker value={agent} onChange={setPicked} managed />
              </Field>
              <ConnectionFields {...props} problems={problems} />
              {provider !== 'http' && (
                <p className="text-[13px] text-muted">
                  No app yet? Leave the next fields empty: the following page shows how to create it.
                  Credentials are stored encrypted and never shown again.
                </p>
              )}
              <CredentialFields
                provider={provider}
                mode={draft.mode}
                inputs={credentials.inputs}
                problems={problems}
                optional
              />
            </FormSection>
            <ChannelFields {...props} problems={problems} />
            <SaveBar
              action="Create channel"
              status=""
              busy={isPending}
              error={error}
              curl={requests.create(agent?.agent_id, {
                type: 'channel',
                provider,
                ...body,
              })}
            />
          </>
        )}
      </ValidatedForm>
      {created?.shared_secret && (
        <RevealChannelSecret channel={created} secret={created.shared_secret} onDone={() => leave(created)} />
      )}
      <LeaveGuard
        isDirty={!created && Object.keys(changesOf(emptyChannelDraft(provider), draft)).length > 0}
      />
    </>
  );
}

type Created = Awaited<ReturnType<typeof deployments.createChannel>>;

/** The created channel until its secret is stored. A channel without a new secret opens at once. */
function useCreatedChannel() {
  const [created, setCreated] = useState<Created>();
  const navigate = useNavigate();
  const queries = useQueryClient();
  function leave({ agent_id: agentId, deployment_id: deploymentId }: Created): void {
    setCreated(undefined);
    void navigate({
      to: '/deployments/$agentId/$deploymentId',
      params: { agentId, deploymentId },
      search: { tab: 'setup' },
      // The Back button skips the submitted form.
      replace: true,
      ignoreBlocker: true,
    });
  }
  return {
    created,
    leave,
    show(channel: Created): void {
      queries.removeQueries({ queryKey: ['deployments', 'list'] });
      if (channel.shared_secret === null) leave(channel);
      else setCreated(channel);
    },
  };
}
