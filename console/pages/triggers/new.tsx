import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { triggers } from '../../api/triggers.ts';
import type { Deployment } from '../../gen/index.ts';
import { newIdempotencyKey } from '../../parts/actions/idempotency-key.ts';
import { TextLink } from '../../parts/navigation/links.tsx';
import { Page } from '../../ui/page.tsx';
import type { NewTrigger } from './form.tsx';
import { LostSecretDialog } from './lost-secret-dialog.tsx';
import { PrefilledTriggerForm } from './prefilled-form.tsx';
import { ReplacementSteps } from './replacement/steps.tsx';
import { RevealSecret } from './reveal-secret.tsx';

const route = getRouteApi('/triggers/new');

/** The only copy of the secret, from the response until the user has stored it. */
interface CreatedTrigger {
  trigger: Deployment;
  newTrigger: NewTrigger;
  secret: string | null;
}

export function NewTriggerPage() {
  const { agent: agentId, replaces } = route.useSearch();
  const { created, create, another, leave } = useCreateTrigger(replaces === undefined ? undefined : agentId);
  const isReplacement = replaces !== undefined;
  return (
    <Page
      title={isReplacement ? 'Replace trigger' : 'New trigger'}
      lead={
        isReplacement
          ? 'Creates a trigger with a new URL and a new secret. Both triggers work until you delete the old one.'
          : 'A URL that starts a session with an agent for every signed request.'
      }
      above={<TextLink to="/triggers">Triggers</TextLink>}
    >
      {isReplacement && <ReplacementSteps current="create" />}
      <PrefilledTriggerForm
        action={isReplacement ? 'Create replacement' : 'Create trigger'}
        create={create}
      />
      {created?.secret && <RevealSecret trigger={created.trigger} secret={created.secret} onDone={leave} />}
      {created?.secret === null && <LostSecretDialog onKeep={leave} onAnother={another} />}
    </Page>
  );
}

/** Creates triggers and shows their secrets, which are in no cache and no URL. */
function useCreateTrigger(replacedAgent: string | undefined) {
  const { replaces } = route.useSearch();
  const [created, setCreated] = useState<CreatedTrigger>();
  const queries = useQueryClient();
  const navigate = useNavigate();

  async function create(newTrigger: NewTrigger): Promise<void> {
    const { shared_secret: secret, ...trigger } = await triggers.create(
      newTrigger.agentId,
      newTrigger.promptPrefix,
      newTrigger.idempotencyKey,
    );
    queries.removeQueries({ queryKey: ['triggers', 'list'] });
    setCreated({ trigger, newTrigger, secret });
  }

  async function another(): Promise<void> {
    if (!created) return;
    await triggers.remove(created.trigger);
    await create({ ...created.newTrigger, idempotencyKey: newIdempotencyKey() });
  }

  function leave(): void {
    if (!created) return;
    const { agent_id: agentId, deployment_id: deploymentId } = created.trigger;
    setCreated(undefined);
    void navigate({
      to: '/triggers/$agentId/$deploymentId',
      params: { agentId, deploymentId },
      search:
        replaces === undefined
          ? {}
          : { replaces, ...(replacedAgent === agentId ? {} : { of: replacedAgent }) },
      // The Back button skips the submitted form.
      replace: true,
      ignoreBlocker: true,
    });
  }

  return { created, create, another, leave };
}
