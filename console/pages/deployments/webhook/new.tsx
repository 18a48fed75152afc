import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { deployments } from '../../../api/deployments.ts';
import type { Webhook } from '../../../gen/index.ts';
import { newIdempotencyKey } from '../../../parts/actions/idempotency-key.ts';
import type { WebhookDraft } from './form.tsx';
import { LostSecretDialog } from './lost-secret-dialog.tsx';
import { PrefilledWebhookForm } from './prefilled-form.tsx';
import { ReplacementSteps } from './replacement/steps.tsx';
import { RevealSecret } from './reveal-secret.tsx';

const route = getRouteApi('/deployments/new');

/** The only copy of the secret, from the response until the user has stored it. */
interface CreatedWebhook {
  webhook: Webhook;
  newWebhook: WebhookDraft;
  secret: string | null;
}

/** The form of a new webhook, and the dialog with its secret. */
export function NewWebhook() {
  const { agent: agentId, replaces } = route.useSearch();
  const { created, create, another, leave } = useCreateWebhook(replaces === undefined ? undefined : agentId);
  const isReplacement = replaces !== undefined;
  return (
    <>
      {isReplacement && <ReplacementSteps current="create" />}
      <PrefilledWebhookForm
        action={isReplacement ? 'Create replacement' : 'Create webhook'}
        create={create}
      />
      {created?.secret && <RevealSecret webhook={created.webhook} secret={created.secret} onDone={leave} />}
      {created?.secret === null && <LostSecretDialog onKeep={leave} onAnother={another} />}
    </>
  );
}

/** Creates webhooks and shows their secrets, which are in no cache and no URL. */
function useCreateWebhook(replacedAgent: string | undefined) {
  const { replaces } = route.useSearch();
  const [created, setCreated] = useState<CreatedWebhook>();
  const queries = useQueryClient();
  const navigate = useNavigate();

  async function create(newWebhook: WebhookDraft): Promise<void> {
    const { shared_secret: secret, ...webhook } = await deployments.createWebhook(
      newWebhook.agentId,
      newWebhook.promptPrefix,
      newWebhook.idempotencyKey,
    );
    queries.removeQueries({ queryKey: ['deployments', 'list'] });
    setCreated({ webhook, newWebhook, secret });
  }

  async function another(): Promise<void> {
    if (!created) return;
    await deployments.remove(created.webhook);
    await create({ ...created.newWebhook, idempotencyKey: newIdempotencyKey() });
  }

  function leave(): void {
    if (!created) return;
    const { agent_id: agentId, deployment_id: deploymentId } = created.webhook;
    setCreated(undefined);
    void navigate({
      to: '/deployments/$agentId/$deploymentId',
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
