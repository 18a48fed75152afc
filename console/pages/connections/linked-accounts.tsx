import { useQueryClient } from '@tanstack/react-query';
import { Unlink, UserRound } from 'lucide-react';
import { links } from '../../api/channels.ts';
import type { ChannelLink } from '../../gen/index.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { List, useList } from '../../parts/resources/list.tsx';
import { providerName } from '../../parts/text/provider-names.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

const PATH = '/auth/links';

/** The user's accounts of messaging products. */
export function LinkedAccounts() {
  const list = useList(links.own);
  const curlOf = useCurl();
  return (
    <section aria-label="Linked accounts">
      <h2 className="mb-2 font-semibold">Linked accounts</h2>
      <Card>
        <List
          list={list}
          curl={curlOf({ path: PATH })}
          empty={
            <EmptyState icon={<UserRound />}>
              No linked accounts yet. An agent's bot sends you a link when you write to it.
            </EmptyState>
          }
        >
          {(items) => (
            <ul aria-label="Linked accounts">
              {items.map((link) => (
                <LinkRow key={link.link_id} link={link} />
              ))}
            </ul>
          )}
        </List>
      </Card>
    </section>
  );
}

function LinkRow({ link }: { link: ChannelLink }) {
  const { external_name: name, provider, team, created_at: at } = link;
  const queries = useQueryClient();
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-3 last:border-b-0">
      <h3 className="min-w-0 font-medium wrap-anywhere">{name}</h3>
      <span className="min-w-0 flex-1 text-[13px] text-muted wrap-anywhere">
        {providerName(provider)}
        {provider !== 'http' && team !== null && `, ${team}`}, linked <Time at={at} />
      </span>
      <ActionButton
        button={
          <Button small>
            <Unlink aria-hidden />
            Unlink
            <span className="sr-only"> {name}</span>
          </Button>
        }
        title={`Unlink ${name}?`}
        action="Unlink"
        run={() => links.end(link.link_id)}
        curl={{ method: 'DELETE', path: `${PATH}/${link.link_id}` }}
        done={`${name} is no longer linked.`}
        onDone={() => queries.invalidateQueries({ queryKey: links.own.queryKey })}
      >
        <p>Messages of this account no longer count as yours.</p>
      </ActionButton>
    </li>
  );
}
