import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import { useState } from 'react';
import { agents } from '../../api/agents.ts';
import { triggers } from '../../api/triggers.ts';
import type { Agent, Deployment } from '../../gen/index.ts';
import { newIdempotencyKey } from '../../parts/acts/idempotency-key.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { useList } from '../../parts/lists/list.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TriggerForm, type Wanted } from './form.tsx';
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
  const chosen = useQuery({ ...agents.one(agentId ?? ''), enabled: agentId !== undefined });
  const replaced = useQuery({
    ...triggers.one(agentId ?? '', replaces ?? ''),
    enabled: agentId !== undefined && replaces !== undefined,
    refetchInterval: false,
  });
  const isReplacement = replaces !== undefined;
  const isReady = !chosen.isLoading && !replaced.isLoading;
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
      {replaced.isError && (
        <p role="alert" className="mb-3 text-warn">
          The trigger to replace is not there any more. A new one can be created all the same.
        </p>
      )}
      {isReplacement && chosen.isError && (
        <p role="alert" className="mb-3 text-warn">
          The agent of the old trigger is gone: choose another one.
        </p>
      )}
      {isReady ? (
        <Offer
          agent={chosen.data ?? null}
          prefix={replaced.data?.prompt_prefix ?? ''}
          action={isReplacement ? 'Create the replacement' : 'Create trigger'}
          create={create}
        />
      ) : (
        <Skeleton lines={8} />
      )}
      {created?.secret && <Reveal trigger={created.trigger} secret={created.secret} onDone={leave} />}
      {created?.secret === null && <Unseen onKeep={leave} onAnother={another} />}
    </Page>
  );
}

/** Without an agent there is nothing to start. */
function Offer(props: {
  agent: Agent | null;
  prefix: string;
  action: string;
  create: (wanted: Wanted) => Promise<void>;
}) {
  const curlOf = useCurl();
  const { query, items } = useList(agents.list());
  if (query.isSuccess && items.length === 0)
    return (
      <Empty
        icon={<Bot />}
        action={
          <ButtonLink to="/agents/new" look="primary">
            New agent
          </ButtonLink>
        }
        curl={curlOf({
          method: 'POST',
          path: '/agents',
          body: { name: 'Echo', model: 'rehearsal/echo' },
        })}
      >
        A trigger starts an agent, and there is none yet.
      </Empty>
    );
  const mine = props.agent?.access === 'manage' ? props.agent : null;
  return <TriggerForm key={mine?.agent_id ?? ''} {...props} agent={mine} />;
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
