import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Link2Off } from 'lucide-react';
import { links } from '../../api/channels.ts';
import { isNotFound } from '../../api/client.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorAlert, ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { ButtonLink } from '../../parts/navigation/links.tsx';
import { providerName } from '../../parts/text/provider-names.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { PropertyList } from '../../ui/property-list.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';

const route = getRouteApi('/link/$code');
const TITLE = 'Link an account';

/** Confirms that an account of a messaging product belongs to the user. The bot sends the address of this page. */
export function LinkPage() {
  const { code } = route.useParams();
  const path = `/auth/link-codes/${code}`;
  const query = useQuery(links.code(code));
  const failure = useQueryFailure(query);
  const curlOf = useCurl();
  const queries = useQueryClient();
  const confirming = useMutation({
    mutationFn: () => links.confirm(code),
    onSuccess: () => queries.invalidateQueries({ queryKey: links.own.queryKey }),
    gcTime: 0,
  });
  if (confirming.data)
    return (
      <Page title="Account linked">
        <p role="status">
          Messages of {confirming.data.external_name} now count as yours. You can close this page and write to
          the bot again.
        </p>
        <p className="mt-4">
          <ButtonLink to="/connections">Your connections</ButtonLink>
        </p>
      </Page>
    );
  if (isNotFound(failure?.error ?? query.error))
    return (
      <Page title={TITLE}>
        <EmptyState icon={<Link2Off />}>
          The link was used or has expired. Send /link to the bot to get a new one.
        </EmptyState>
      </Page>
    );
  const account = query.data;
  if (!account)
    return (
      <Page title={TITLE}>
        {failure ? <ErrorState {...failure} curl={curlOf({ path })} /> : <Skeleton lines={4} />}
      </Page>
    );
  return (
    <Page
      title={TITLE}
      lead="Messages of this account will count as yours: they use your access and can decide approvals."
      actions={<CopyCurl path={path} />}
    >
      <Card>
        <PropertyList
          facts={[
            { name: 'Product', value: providerName(account.provider) },
            { name: 'Account', value: `${account.external_name} (${account.external_id})` },
            ...(account.provider === 'http' || account.team === null
              ? []
              : [{ name: 'Workspace', value: account.team }]),
            { name: 'Channel', value: account.deployment_name },
            { name: 'Valid until', value: <Time at={account.expires_at} /> },
          ]}
        />
      </Card>
      <p className="my-4 max-w-prose rounded-xl border border-warn bg-warn-soft p-4">
        Continue only if this is your own account and you have asked the bot for this link. If someone else
        sent it to you, close this page.
      </p>
      <ErrorAlert error={confirming.error} />
      <Button look="primary" busy={confirming.isPending} onClick={() => confirming.mutate()}>
        Link this account
      </Button>
    </Page>
  );
}
