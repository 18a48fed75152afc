import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import type { ReactNode } from 'react';
import { agents } from '../../api/agents.ts';
import { isMissing } from '../../api/client.ts';
import { triggers } from '../../api/triggers.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { Failure } from '../../parts/faults/failure.tsx';
import { useFailure } from '../../parts/faults/use-failure.ts';
import { ButtonLink } from '../../parts/links.tsx';
import { useList } from '../../parts/lists/list.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TriggerForm, type TriggerFormProps } from './form.tsx';
import { requests } from './requests.ts';

const route = getRouteApi('/triggers/new');

/** The form, once it is known what stands in it at first. Without an agent there is nothing to start. */
export function Offer(form: Pick<TriggerFormProps, 'action' | 'create'>) {
  const { agent: agentId = '', replaces = '' } = route.useSearch();
  const curlOf = useCurl();
  const isNamed = agentId !== '';
  const isReplacement = isNamed && replaces !== '';
  const list = useList(agents.list());
  const chosen = useQuery({ ...agents.one(agentId), enabled: isNamed });
  const replaced = useQuery({
    ...triggers.one(agentId, replaces),
    enabled: isReplacement,
    refetchInterval: false,
  });
  const mine = chosen.data?.access === 'manage' ? chosen.data : null;
  const failures = [
    { failed: useFailure(chosen), path: `/agents/${agentId}` },
    {
      failed: useFailure(replaced),
      path: requests.read({ agent_id: agentId, deployment_id: replaces }).path,
    },
    { failed: useFailure(list.query), path: mine ? undefined : '/agents' },
  ];
  for (const { failed, path } of failures)
    if (path && failed && !isMissing(failed.error)) return <Failure {...failed} curl={curlOf({ path })} />;
  if (chosen.isLoading || replaced.isLoading || (!mine && list.query.isPending))
    return <Skeleton lines={8} />;
  if (!mine && list.items.length === 0) return <NoAgent />;
  return (
    <>
      {replaced.isError && (
        <Warning>
          The trigger to replace is not there any more. A new one can be created all the same.
        </Warning>
      )}
      {isNamed && !mine && (
        <Warning>
          {chosen.data
            ? 'You may use that agent, but not change it: choose another one.'
            : 'That agent is gone: choose another one.'}
        </Warning>
      )}
      <TriggerForm {...form} agent={mine} prefix={replaced.data?.prompt_prefix ?? ''} />
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
    <Empty icon={<Bot />} action={create} curl={curlOf({ method: 'POST', path: '/agents', body })}>
      A trigger starts an agent, and there is none yet.
    </Empty>
  );
}
