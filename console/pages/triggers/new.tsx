import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { triggers } from '../../api/triggers.ts';
import type { Deployment } from '../../gen/index.ts';
import { newIdempotencyKey } from '../../parts/acts/idempotency-key.ts';
import { TextLink } from '../../parts/links.tsx';
import { Page } from '../../ui/page.tsx';
import type { Wanted } from './form.tsx';
import { Offer } from './offer.tsx';
import { Steps } from './replacement/steps.tsx';
import { Reveal } from './reveal.tsx';
import { Unseen } from './unseen.tsx';

const route = getRouteApi('/triggers/new');

/** The one place where the secret is, from the answer until it is stored. */
interface Created {
  trigger: Deployment;
  wanted: Wanted;
  secret: string | null;
}

export function NewTriggerPage() {
  const { agent: agentId, replaces } = route.useSearch();
  const { created, create, another, leave } = useCreation(replaces === undefined ? undefined : agentId);
  const isReplacement = replaces !== undefined;
  return (
    <Page
      title={isReplacement ? 'Replace a trigger' : 'New trigger'}
      lead={
        isReplacement
          ? 'A new trigger with a new URL and a new secret takes the place of the old one. Both work until you delete the old one.'
          : 'A URL that starts a session of an agent with every signed request.'
      }
      above={<TextLink to="/triggers">Triggers</TextLink>}
    >
      {isReplacement && <Steps current="create" />}
      <Offer action={isReplacement ? 'Create the replacement' : 'Create trigger'} create={create} />
      {created?.secret && <Reveal trigger={created.trigger} secret={created.secret} onDone={leave} />}
      {created?.secret === null && <Unseen onKeep={leave} onAnother={another} />}
    </Page>
  );
}

/** Creates triggers and shows their secrets: those pass through here, and are in no cache and no URL. */
function useCreation(replacedAgent: string | undefined) {
  const { replaces } = route.useSearch();
  const [created, setCreated] = useState<Created>();
  const queries = useQueryClient();
  const navigate = useNavigate();

  async function create(wanted: Wanted): Promise<void> {
    const { shared_secret: secret, ...trigger } = await triggers.create(
      wanted.agentId,
      wanted.promptPrefix,
      wanted.idempotencyKey,
    );
    queries.removeQueries({ queryKey: ['triggers', 'list'] });
    setCreated({ trigger, wanted, secret });
  }

  async function another(): Promise<void> {
    if (!created) return;
    await triggers.remove(created.trigger);
    await create({ ...created.wanted, idempotencyKey: newIdempotencyKey() });
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
      // Back leads to where one came from, and not to a form that has been sent.
      replace: true,
      ignoreBlocker: true,
    });
  }

  return { created, create, another, leave };
}
