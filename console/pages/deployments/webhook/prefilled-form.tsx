import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import type { ReactNode } from 'react';
import { agents } from '../../../api/agents.ts';
import { isNotFound } from '../../../api/client.ts';
import { deployments } from '../../../api/deployments.ts';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { ErrorState } from '../../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../../parts/errors/use-query-failure.ts';
import { ButtonLink } from '../../../parts/navigation/links.tsx';
import { useList } from '../../../parts/resources/list.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { requests } from '../requests.ts';
import { WebhookForm, type WebhookFormProps } from './form.tsx';

const route = getRouteApi('/deployments/new');

/** The webhook form with its initial values. Without an agent it shows a link to create one. */
export function PrefilledWebhookForm(form: Pick<WebhookFormProps, 'action' | 'create'>) {
  const { agent: agentId = '', replaces = '' } = route.useSearch();
  const curlOf = useCurl();
  const isNamed = agentId !== '';
  const isReplacement = isNamed && replaces !== '';
  const list = useList(agents.list());
  const chosen = useQuery({ ...agents.detail(agentId), enabled: isNamed });
  const replaced = useQuery({
    ...deployments.detail(agentId, replaces),
    enabled: isReplacement,
    refetchInterval: false,
  });
  const mine = chosen.data?.access === 'manage' ? chosen.data : null;
  const failures = [
    { failed: useQueryFailure(chosen), path: `/agents/${agentId}` },
    {
      failed: useQueryFailure(replaced),
      path: requests.read({ agent_id: agentId, deployment_id: replaces }).path,
    },
    { failed: useQueryFailure(list.query), path: mine ? undefined : '/agents' },
  ];
  for (const { failed, path } of failures)
    if (path && failed && !isNotFound(failed.error))
      return <ErrorState {...failed} curl={curlOf({ path })} />;
  if (chosen.isLoading || replaced.isLoading || (!mine && list.query.isPending))
    return <Skeleton lines={8} />;
  if (!mine && list.items.length === 0) return <NoAgent />;
  return (
    <>
      {replaced.isError && (
        <Warning>The webhook to replace no longer exists. You can still create a new one.</Warning>
      )}
      {isNamed && !mine && (
        <Warning>
          {chosen.data
            ? 'You can use this agent, but you do not manage it. Select another agent.'
            : 'This agent no longer exists. Select another agent.'}
        </Warning>
      )}
      <WebhookForm
        {...form}
        agent={mine}
        prefix={(replaced.data?.type === 'webhook' && replaced.data.prompt_prefix) || ''}
      />
    </>
  );
}

function Warning({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="mb-3 text-warn">
      {children}
    </p>
  );
}

function NoAgent() {
  const curlOf = useCurl();
  const create = (
    <ButtonLink to="/agents/new" look="primary">
      New agent
    </ButtonLink>
  );
  const body = { name: 'Echo', model: 'rehearsal/echo' };
  return (
    <EmptyState icon={<Bot />} action={create} curl={curlOf({ method: 'POST', path: '/agents', body })}>
      A webhook needs an agent. Create one first.
    </EmptyState>
  );
}
